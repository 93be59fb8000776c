" Syntax of .unet files.  The lists of words are written by dsl/editors/words.py UNETC --update.
if exists('b:current_syntax')
  finish
endif

let s:declaration = 'let input target output block layer'
let s:control = 'return for in if elif else'
let s:logic = 'and or not'
let s:value = 'true false'
let s:type = 'image volume signal number labels'
let s:section = 'data train eval predict'
let s:operator = 'conv upconv linear relu leaky_relu sigmoid silu tanh gelu elu selu mish softplus relu6 hard_sigmoid hard_swish clamp sqrt exp log sin cos abs square softmax max_pool avg_pool adaptive_avg_pool channel_mean channel_max resize match pad crop roll flip batch_norm instance_norm group_norm layer_norm normalize rms_norm attention channel_attention linear_attention scale parameter relative_bias positions constant sinusoid embedding prelu maximum minimum max_unpool pixel_shuffle pixel_unshuffle rearrange dropout dropout_channels concat mse l1 charbonnier smooth_l1 psnr_loss ssim_loss cross_entropy bce_with_logits focal_loss ohem_cross_entropy lovasz_loss dice_loss tversky_loss argmax accuracy miou iou dice precision recall ssim psnr range reversed len min max sum int pop channels size chunk zip enumerate'
let s:setting = 'crop flip holdout folds normalize spacing trim shuffle threads resize scale rot90 rotate elastic distort gamma noise blur low_resolution loss metric optimizer batch epochs steps tail save seed memory pretrained precision accumulate ranks schedule warmup patience clip ema state compress freeze every size at pad regions windows'
let s:source = 'images volumes signals labels list gaussian uniform border_weight class_of diffuse tokens hide next sgd adam adamw rmsprop constant poly cosine step multistep plateau one_cycle'

function! s:any(words) abort
  return '\%(' . join(split(a:words), '\|') . '\)'
endfunction

" What a name in front of `=` means is up to the file: `scale = 2` is an argument.
let s:not_set = '\>\%(\s*=[^=]\)\@!'

execute 'syntax match unetOperator /\<' . s:any(s:operator) . s:not_set . '/'
execute 'syntax match unetSource /\<' . s:any(s:source) . s:not_set . '/ contained'
execute 'syntax match unetSetting /^\s*\zs' . s:any(s:setting) . s:not_set . '/ contained'
execute 'syntax match unetType /:\s*\zs' . s:any(s:type) . '\>/'
execute 'syntax keyword unetDeclaration ' . s:declaration
execute 'syntax keyword unetControl ' . s:control
execute 'syntax keyword unetLogic ' . s:logic
execute 'syntax keyword unetValue ' . s:value

syntax match unetNumber /\<\d[0-9_]*\%(\.\d[0-9_]*\)\?\%([eE][-+]\?\d\+\)\?\%([KMG]iB\)\?\>/
syntax match unetArrow /->/
syntax match unetInName /{[^}"]*}/ contained
syntax region unetText start=/"/ end=/"\|$/ contains=unetInName oneline
syntax match unetComment /#.*$/ contains=@Spell

syntax cluster unetInside contains=unetOperator,unetSource,unetSetting,unetDeclaration,unetControl,unetLogic,
      \unetValue,unetNumber,unetArrow,unetText,unetComment,unetBody
syntax region unetBody start=/{/ end=/}/ contained transparent contains=@unetInside
execute 'syntax region unetSection matchgroup=unetSectionName start=/^\s*' . s:any(s:section)
      \ . '\s*\n\?\s*{/ end=/}/ contains=@unetInside'

highlight default link unetDeclaration Keyword
highlight default link unetControl Statement
highlight default link unetLogic Operator
highlight default link unetArrow Operator
highlight default link unetValue Boolean
highlight default link unetType Type
highlight default link unetSectionName Structure
highlight default link unetOperator Function
highlight default link unetSource Function
highlight default link unetSetting Identifier
highlight default link unetNumber Number
highlight default link unetText String
highlight default link unetInName Special
highlight default link unetComment Comment

let b:current_syntax = 'unet'
