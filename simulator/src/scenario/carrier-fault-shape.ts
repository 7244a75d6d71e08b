import { boolean, decimal, integer, nullable, object, oneOf } from '../model/shape.ts'

const MS_MAX = 7_200_000
const ms = integer(0, MS_MAX)
const count = integer(0, 100_000)
const ending = oneOf(['stop-and-close', 'close-only', 'stop-only', 'fin', 'rst', 'black-hole'])
const restFault = oneOf([
  'normal',
  'rate-limited',
  'internal-error',
  'accept-then-reset',
  'accept-then-hang',
  'unauthorized',
  'invalid-number',
])

const stream = object(
  {},
  {
    jitter_ms: ms,
    ending,
    stop_missing_share: decimal(0, 1),
    cut: nullable(object({ at_ms: ms, how: ending }, {})),
    after_loss: oneOf(['next-verb', 'silence']),
    second_start: nullable(object({ at_ms: ms }, {})),
    media_before_start: count,
    marks_echoed: boolean,
    marks_late_ms: ms,
    timestamp_jump: nullable(object({ at_ms: ms, by_ms: ms }, {})),
    media_pause: nullable(object({ at_ms: ms, for_ms: ms }, {})),
    skip_silent_frames: boolean,
    slow_reader: nullable(object({ at_ms: ms, for_ms: ms }, {})),
    malformed: nullable(
      object({ at_ms: ms, kind: oneOf(['not-json', 'binary', 'truncated', 'no-event', 'oversized']) }, {}),
    ),
    burst: nullable(object({ at_ms: ms, frames: count }, {})),
  },
)

const callbacks = object(
  {},
  {
    copies: integer(1, 100),
    order: oneOf(['as-fired', 'reversed', 'completed-first']),
    delivery: oneOf(['normal', 'never']),
    delay_ms: ms,
    signature: oneOf(['valid', 'forged', 'missing']),
  },
)

const rest = object(
  {},
  {
    create: restFault,
    modify: restFault,
    fetch: restFault,
    strikes: count,
    hang_ms: ms,
    ended_on_modify: boolean,
    list_lag_ms: ms,
  },
)

/** The carrier's switches as a scenario writes them: the carrier's own, in snake_case. */
export const carrierFaults = { stream, callbacks, rest }

/** The same value with the names of all fields in camelCase, as the carrier has them. */
export function camelCased(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value
  if (Array.isArray(value)) return value.map(camelCased)
  return Object.fromEntries(Object.entries(value).map(([key, field]) => [camel(key), camelCased(field)]))
}

function camel(key: string): string {
  return key.replaceAll(/_(\w)/g, (_, letter: string) => letter.toUpperCase())
}
