// Command psrp measures go-psrpcore, which is the original itself.
package main

import (
	_ "unsafe" // for linkname

	"github.com/smnsjas/go-psrpcore/outofproc"
	_ "github.com/smnsjas/go-psrpcore/serialization" // has the two functions of strings
)

// Three functions that the original measures are private to its packages.

//go:linkname decodeString github.com/smnsjas/go-psrpcore/serialization.decodeCLIXMLString
func decodeString(text string) string

//go:linkname encodeString github.com/smnsjas/go-psrpcore/serialization.encodeCLIXMLString
func encodeString(text string) string

//go:linkname parsePacket github.com/smnsjas/go-psrpcore/outofproc.parsePacket
func parsePacket(line string) (*outofproc.Packet, error)
