/** The kinds of frames (RFC 6455, 5.2). From `close` on they are control frames: short, whole, and allowed between others. */
export const OPCODE = { continuation: 0x0, text: 0x1, binary: 0x2, close: 0x8, ping: 0x9, pong: 0xa } as const

/** The bit of a frame's first byte that says that no other piece of the message follows. */
export const FINAL = 0x80
/** The bit of a frame's second byte that says that it has a mask. */
export const MASKED = 0x80
/** The second byte's lengths that say that the length itself follows, in 2 or in 8 bytes. */
export const LENGTH_IN_2 = 126
export const LENGTH_IN_8 = 127
/** What a control frame carries at most. */
export const MAX_CONTROL_BYTES = 125
