" Comments, indentation, and `:make`, which fills the quickfix list with what `unetc check` finds.
if exists('b:did_ftplugin')
  finish
endif
let b:did_ftplugin = 1

setlocal comments=:# commentstring=#\ %s
setlocal shiftwidth=4 expandtab
setlocal makeprg=unetc\ check\ --color=never\ %:S
setlocal errorformat=%Eerror[U%n]:\ %m,%Wwarning[U%n]:\ %m,%C\ %#-->\ %f:%l:%c,%-G%.%#

let b:undo_ftplugin = 'setlocal comments< commentstring< shiftwidth< expandtab< makeprg< errorformat<'
