import { isUtf8 } from 'node:buffer'
import type { OutboundAnswer } from '../../platform/outbound/exchange.ts'
import type { OutboundFault } from '../../platform/outbound/fault.ts'
import type { ToolResult } from './tool.ts'

/** So much of an answer is read; what of it a model is told is less. */
export const MAX_ANSWER_BYTES = 65_536
/** Of a result as JSON: what is told beyond it would be cut where it stands, and be no JSON any more. */
const MAX_RESULT_BYTES = 8_000
/** The first guess at how much of a long text fits. */
const FIRST_CUT_CHARS = 7_000

/** Whether the end of an answer never came: what there is of it says nothing, however it begins. */
export function hasBrokenOff({ isWhole, isTooLong }: OutboundAnswer): boolean {
  return !isWhole && !isTooLong
}

/**
 * What a model is told of an answer: its body as JSON where it is some, else as text, as far as it fits.
 *
 * @param isLate whether the time for it is over.
 */
export function resultOfAnswer(answer: OutboundAnswer, isLate: boolean): ToolResult {
  const { status, headers, body, isWhole } = answer
  const text = textOf(body, headers['content-type'])
  if (status < 200 || status > 299) {
    const redirects = status >= 300 && status < 400 ? '; redirects are not followed' : ''
    const error = `the address answered ${status}${redirects}`
    return { output: fitting({ error }, 'body', text === '' ? null : said(text, isWhole)), status: 'error' }
  }
  if (hasBrokenOff(answer)) {
    const output = fitting({ error: BROKEN_OFF, status }, 'body', text === '' ? null : said(text, isWhole))
    return { output, status: isLate ? 'timeout' : 'error' }
  }
  return { output: fitting({ status }, 'body', said(text, isWhole)) }
}

const BROKEN_OFF = 'The answer did not come to its end. It is not known whether it was done.'

/** What a model is told when there was no answer. */
export function resultOfFault({ kind, message }: OutboundFault): ToolResult {
  if (kind !== 'timeout') return { output: { error: message }, status: 'error' }
  return { output: { error: `${message} It is not known whether it was done.` }, status: 'timeout' }
}

/** `rest` with `value` as `name`, cut so that all of it is told as whole JSON. */
export function fitting(rest: Record<string, unknown>, name: string, value: Said | null): Record<string, unknown> {
  if (value === null) return rest
  const whole = { ...rest, [name]: value.value, ...(value.isCut && { truncated: true }) }
  if (sizeOf(whole) <= MAX_RESULT_BYTES) return whole
  const text = typeof value.value === 'string' ? value.value : JSON.stringify(value.value)
  for (let chars = FIRST_CUT_CHARS; ; chars = Math.floor(chars / 2)) {
    const cut = { ...rest, [name]: text.slice(0, chars).toWellFormed(), truncated: true }
    if (chars === 0 || sizeOf(cut) <= MAX_RESULT_BYTES) return cut
  }
}

/** What was said, and whether more of it was. */
export type Said = { value: unknown; isCut: boolean }

function said(text: string, isWhole: boolean): Said {
  return { value: isWhole ? (parsed(text) ?? text) : text, isCut: !isWhole }
}

/** Deeper than any form is; what is deeper than the stack cannot be written as JSON again. */
const MAX_DEPTH = 64

/** An object or a list, not too deep; a bare word or number is better told as it stands. */
function parsed(text: string): object | null {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' && !isTooDeep(value) ? value : null
  } catch {
    return null
  }
}

/** Whether a value goes too deep to be told as JSON. Level by level, so that whatever was parsed can be asked about. */
export function isTooDeep(value: unknown): boolean {
  const isNested = (member: unknown): member is object => typeof member === 'object' && member !== null
  let level = [value].filter(isNested)
  for (let depth = 0; level.length > 0; depth++) {
    if (depth === MAX_DEPTH) return true
    level = level.flatMap((each) => Object.values(each).filter(isNested))
  }
  return false
}

/** What is no text is named, not told. */
export function textOf(body: Buffer, type: string | string[] | undefined): string {
  if (isText(body)) return body.toString().toWellFormed().trim()
  const kind = typeof type === 'string' ? (type.split(';')[0]?.slice(0, 100) ?? '') : 'unknown type'
  return `(${body.length} bytes of ${kind}, which cannot be read here)`
}

/** The end may have been cut in the middle of a character. */
function isText(body: Buffer): boolean {
  return [0, 1, 2, 3].some((cut) => isUtf8(body.subarray(0, body.length - cut))) && !body.includes(0)
}

function sizeOf(value: unknown): number {
  return Buffer.byteLength(JSON.stringify(value))
}
