package messages

import (
	"github.com/sonirico/parco"
)

var IdsType = parco.Slice[uint16](parco.UInt8Header(), parco.UInt16LE())
