$stream = $null
$temporary = $null
try {
    $target = & $resolve $Path
    if ([IO.Directory]::Exists($target)) {
        if ([IO.Path]::GetFileName($Name) -ne $Name) { throw "'$Name' is not a file name on this system." }
        $target = [IO.Path]::Combine($target, $Name)
        if ([IO.Directory]::Exists($target)) { throw "'$target' is a directory." }
    }
    if (-not $Overwrite -and [IO.File]::Exists($target)) { throw "'$target' already exists and overwriting is not enabled." }
    $directory = [IO.Path]::GetDirectoryName($target)
    if (-not [IO.Directory]::Exists($directory)) { throw "The directory '$directory' does not exist." }
    $temporary = [IO.Path]::Combine($directory, '.psrp-' + [Guid]::NewGuid().ToString('N'))
    $stream = [IO.FileStream]::new($temporary, 'CreateNew', 'ReadWrite', 'None')
    $expected = $null
    [long]$written = 0
    foreach ($chunk in $input) {
        if ($chunk -is [string]) {
            $expected = $chunk
        }
        else {
            $stream.Write($chunk, 0, $chunk.Length)
            $written += $chunk.Length
            $written
        }
    }
    $actual = & $hash $stream
    $stream.Dispose()
    $stream = $null
    if ($actual -eq $expected) {
        if (-not [IO.File]::Exists($target)) {
            [IO.File]::Move($temporary, $target)
        }
        elseif ($Overwrite) {
            if ($PSVersionTable['Platform'] -eq 'Unix' -and [IO.File].GetMember('SetUnixFileMode')) {
                [IO.File]::SetUnixFileMode($temporary, [IO.File]::GetUnixFileMode($target))
            }
            [IO.File]::Replace($temporary, $target, [NullString]::Value)
        }
        else {
            throw "'$target' already exists and overwriting is not enabled."
        }
        $temporary = $null
    }
    $actual
}
catch {
    throw (& $cause $_)
}
finally {
    if ($stream) { $stream.Dispose() }
    if ($temporary) { [IO.File]::Delete($temporary) }
}
