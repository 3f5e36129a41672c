package messages

import (
	"github.com/sonirico/parco"
)

var IdType = parco.Option[uint](parco.UIntBE())
