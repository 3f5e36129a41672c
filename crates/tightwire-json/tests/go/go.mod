module gocompat

go 1.22
