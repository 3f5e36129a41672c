// The compiler accepts functions without a body in packages that have an assembly file.
