$stream = $null
try {
    $source = & $resolve $Path
    if ([IO.Directory]::Exists($source)) { throw "'$source' is a directory." }
    $stream = [IO.FileStream]::new($source, 'Open', 'Read', 'ReadWrite, Delete')
    $stream.Length
    while ($true) {
        $chunk = [byte[]]::new($ChunkSize)
        $count = $stream.Read($chunk, 0, $ChunkSize)
        if ($count -eq 0) { break }
        if ($count -lt $ChunkSize) { [Array]::Resize([ref]$chunk, $count) }
        , $chunk
    }
    & $hash $stream
}
catch {
    throw (& $cause $_)
}
finally {
    if ($stream) { $stream.Dispose() }
}
