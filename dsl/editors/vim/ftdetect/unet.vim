autocmd BufNewFile,BufRead *.unet setfiletype unet
