package payload

// Check values of decoded values, as in the suite in Rust.

// Checked is a type with a check value.
type Checked interface{ Check() uint64 }

func (r *APIResponse) Check() uint64 {
	check := uint64(len(r.RequestID)) + uint64(r.Timestamp)
	if r.Data != nil {
		check++
	}
	return check
}

func (r *PageResponse) Check() uint64 {
	check := uint64(r.Total + int64(r.PageSize))
	if r.Data != nil {
		for i := range r.Data.List {
			user := &r.Data.List[i]
			check += uint64(user.Metadata.LoginCount + len(user.Username))
		}
	}
	return check
}

func (r *TestResponse) Check() uint64 {
	check := len(r.Message)
	for _, text := range r.List {
		check += len(text)
	}
	return uint64(check)
}

// Tree is a map of any values. Its check value is the number of values in the root, where an array counts its elements.
type Tree struct{ Value any }

func (t *Tree) Check() uint64 {
	check := 0
	fields, _ := t.Value.(map[string]any)
	for _, field := range fields {
		if elements, ok := field.([]any); ok {
			check += len(elements)
		} else {
			check++
		}
	}
	return uint64(check)
}
