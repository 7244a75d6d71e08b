import { isUtf8 } from 'node:buffer'
import { MAX_CONTROL_BYTES } from './opcodes.ts'
import { ProtocolFault } from './protocol-fault.ts'

/** Stands for a close frame that gives no code; it is never sent. */
const NO_CODE = 1005
/** Stands for a connection that ended without a close frame; it is never sent. */
export const ABNORMAL = 1006

const CODE_BYTES = 2
const MAX_REASON_BYTES = MAX_CONTROL_BYTES - CODE_BYTES

/**
 * What a close frame says: 1005 when it says nothing.
 *
 * @param payload of no byte or at least two.
 * @throws ProtocolFault for a code that may not be sent, and, when text is checked, for a reason that is not UTF-8.
 */
export function readClosePayload(payload: Buffer, checksText: boolean): { code: number; reason: string } {
  if (payload.length === 0) return { code: NO_CODE, reason: '' }
  const code = payload.readUInt16BE(0)
  if (!maySend(code)) throw new ProtocolFault('WS_ERR_INVALID_CLOSE_CODE')
  const reason = payload.subarray(CODE_BYTES)
  if (checksText && !isUtf8(reason)) throw new ProtocolFault('WS_ERR_INVALID_UTF8')
  return { code, reason: reason.toString('utf8') }
}

/** A close frame's payload. The reason is cut to 123 bytes, never inside a character. */
export function closePayload(code: number, reason: string): Buffer {
  if (code === NO_CODE) return Buffer.alloc(0)
  const text = Buffer.from(reason)
  let end = Math.min(text.length, MAX_REASON_BYTES)
  while (end < text.length && ((text[end] as number) & 0xc0) === 0x80) end -= 1
  const payload = Buffer.alloc(CODE_BYTES + end)
  payload.writeUInt16BE(code)
  payload.set(text.subarray(0, end), CODE_BYTES)
  return payload
}

/** RFC 6455, 7.4, and the registry that goes with it: 1004 to 1006 and 1015 stand for what is never sent. */
function maySend(code: number): boolean {
  if (code >= 3000) return code <= 4999
  return code >= 1000 && code <= 1014 && !(code >= 1004 && code <= ABNORMAL)
}
