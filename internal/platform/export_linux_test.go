package platform

// MapPinned is the path of kernels without memfd_secret.
var MapPinned = mapPinned
