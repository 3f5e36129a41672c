$ErrorActionPreference = 'Stop'
$resolve = {
    param($Path)
    $provider = $null
    $drive = $null
    # The path is literal: wildcards are not expanded.
    $full = $ExecutionContext.SessionState.Path.GetUnresolvedProviderPathFromPSPath($Path, [ref]$provider, [ref]$drive)
    if ($provider.Name -ne 'FileSystem') { throw "'$Path' is not a path of the file system." }
    $full
}
$hash = {
    param($Stream)
    # In blocks, so that the script can be stopped.
    $algorithm = [Security.Cryptography.SHA256]::Create()
    $block = [byte[]]::new(1048576)
    $Stream.Position = 0
    while (($count = $Stream.Read($block, 0, $block.Length)) -gt 0) {
        [void]$algorithm.TransformBlock($block, 0, $count, $null, 0)
    }
    [void]$algorithm.TransformFinalBlock($block, 0, 0)
    [BitConverter]::ToString($algorithm.Hash).Replace('-', '').ToLowerInvariant()
}
$cause = {
    param($Record)
    # PowerShell wraps the exception of a .NET method in one that names the method.
    $exception = $Record.Exception
    if ($exception -is [Management.Automation.MethodInvocationException] -and $exception.InnerException) {
        $exception = $exception.InnerException
    }
    $exception
}
