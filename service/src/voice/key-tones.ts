import { type Tone, tones } from './tones.ts'

const ROWS = [697, 770, 852, 941]
const COLUMNS = [1_209, 1_336, 1_477, 1_633]
const KEYS = ['123A', '456B', '789C', '*0#D']

const KEY_MS = 120
const GAP_MS = 80
const PAUSE_MS = 500
const PEAK = 16_000

/** The keys that can be pressed; `w` waits half a second. */
export const KEYS_PATTERN = '^[0-9A-D*#w]+$'

/** The tones of keys, one after the other, as base64 µ-law. */
export function keyTones(keys: string): Buffer {
  return tones([...keys].flatMap(toneOf), PEAK)
}

function toneOf(key: string): Tone[] {
  if (key === 'w') return [{ hz: [], ms: PAUSE_MS }]
  const row = KEYS.findIndex((keys) => keys.includes(key))
  const column = KEYS[row]?.indexOf(key) ?? -1
  const hz = [ROWS[row], COLUMNS[column]].filter((each) => each !== undefined)
  return [
    { hz, ms: KEY_MS },
    { hz: [], ms: GAP_MS },
  ]
}
