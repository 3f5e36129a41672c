# Rows of the suite `psrp` for PowerShell: its serializer and deserializer, and its client. Answers the requests of the
# suites: one line on standard input, one on standard output, see benches/README.md.
#
# BENCH_DOCUMENTS has the CLIXML of rows, and BUILT the example `psrp_server`.

$ErrorActionPreference = 'Stop'
[Console]::OutputEncoding = [Text.UTF8Encoding]::new($false)

# The check values of rows that write are the lengths of our documents, once PowerShell's has the same members.
$lengths = @{
    serialize_small_object = 183; serialize_medium_object = 462; serialize_large_object = 1622; serialize_with_references = 316
    serialize_string = 24; serialize_int32 = 16; serialize_hashtable = 313; objects_1000_write = 462831
}

# What our rows check: objects of a list, or members of an object.
function Get-Size($value) {
    if ($value -is [Collections.IList]) { $value.Count } else { @($value.PSObject.Properties).Count }
}

# The operations are functions of the number of repetitions, which return the time in nanoseconds and the check value.

function New-Read([string]$text) {
    {
        param($count)
        $start = [Diagnostics.Stopwatch]::GetTimestamp()
        for ($i = 0; $i -lt $count; $i++) { $value = [System.Management.Automation.PSSerializer]::Deserialize($text) }
        [Diagnostics.Stopwatch]::GetElapsedTime($start).TotalNanoseconds
        Get-Size $value
    }.GetNewClosure()
}

# The value is the one that the deserializer reads, so its documents have other type names, and white space.
function New-Write([string]$row, [string]$text) {
    $value = [System.Management.Automation.PSSerializer]::Deserialize($text)
    $written = [System.Management.Automation.PSSerializer]::Serialize($value, 10)
    $found = Get-Size ([System.Management.Automation.PSSerializer]::Deserialize($written))
    if ($found -ne (Get-Size $value)) { throw "$row`: $found members" }
    $check = $lengths[$row]
    {
        param($count)
        $start = [Diagnostics.Stopwatch]::GetTimestamp()
        for ($i = 0; $i -lt $count; $i++) { $written = [System.Management.Automation.PSSerializer]::Serialize($value, 10) }
        [Diagnostics.Stopwatch]::GetElapsedTime($start).TotalNanoseconds
        if ($written.EndsWith('</Objs>')) { $check } else { 0 }
    }.GetNewClosure()
}

# An open runspace on the server that a program on standard input and output is.
function Open-Runspace([string]$program, [string[]]$arguments) {
    $flags = [Reflection.BindingFlags]'Instance, Public, NonPublic'
    $instance = [System.Management.Automation.Runspaces.PowerShellProcessInstance]::new($null, $null, $null, $false)
    $start = $instance.Process.StartInfo
    $start.FileName = $program
    $start.Arguments = ''
    $start.ArgumentList.Clear()
    foreach ($argument in $arguments) { $start.ArgumentList.Add($argument) }
    $type = [powershell].Assembly.GetType('System.Management.Automation.Runspaces.NewProcessConnectionInfo')
    $connection = [Activator]::CreateInstance($type, $flags, $null, [object[]]@($null), $null)
    $type.GetProperty('Process', $flags).SetValue($connection, $instance)
    $runspace = [System.Management.Automation.Runspaces.RunspaceFactory]::CreateRunspace($connection)
    $runspace.Open()
    $runspace
}

# A pipeline in a session in which a small one has run.
function New-Session([string]$row) {
    $server, $arguments = if ($row -like 'child_powershell_*') {
        $(if ($env:PSRP_TEST_PWSH) { $env:PSRP_TEST_PWSH } else { 'pwsh' }), @('-s', '-NoLogo', '-NoProfile')
    } else { "$env:BUILT/psrp_server", @() }
    $runspace = Open-Runspace $server $arguments
    $numbers = [int]($row -replace '^.*_(\d+)_(in|out)$', '$1')
    $sends = $row -like '*_in'
    $invoke = {
        param($numbers)
        $pipeline = [powershell]::Create()
        $pipeline.Runspace = $runspace
        $null = $pipeline.AddScript($(if ($sends) { '$input' } else { "1..$numbers" }))
        $output = if ($sends) { $pipeline.Invoke(1..$numbers) } else { $pipeline.Invoke() }
        $sum = [long]0
        foreach ($number in $output) { $sum += $number }
        $pipeline.Dispose()
        $sum
    }.GetNewClosure()
    $null = & $invoke 1000
    {
        param($count)
        $start = [Diagnostics.Stopwatch]::GetTimestamp()
        for ($i = 0; $i -lt $count; $i++) { $sum = & $invoke $numbers }
        [Diagnostics.Stopwatch]::GetElapsedTime($start).TotalNanoseconds
        $sum
    }.GetNewClosure()
}

function New-Operation([string]$row) {
    if ($row -like 'child_*') { return New-Session $row }
    $file = "$env:BENCH_DOCUMENTS/$row.xml"
    if (-not [IO.File]::Exists($file)) { return $null }
    $text = [IO.File]::ReadAllText($file)
    if ($lengths.ContainsKey($row)) { New-Write $row $text } else { New-Read $text }
}

$ready = @{}
while ($null -ne ($line = [Console]::In.ReadLine())) {
    try {
        $request, $row, $name, $count = $line.Split("`t")
        # PowerShell does not count allocations.
        $answer = 'none'
        if ($request -eq 'run' -and $name -eq 'PowerShell') {
            if (-not $ready.ContainsKey($row)) { $ready[$row] = New-Operation $row }
            if ($ready[$row]) {
                $time, $check = & $ready[$row] ([long]$count)
                $answer = "ok`t$([long]$time)`t$check"
            }
        }
    } catch {
        $answer = "error`t$("$_" -replace '\s+', ' ')"
    }
    [Console]::Out.WriteLine($answer)
}
