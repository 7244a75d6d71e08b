import type { DocumentSource } from './call-plan.ts'
import type { Clock } from './clock.ts'
import { elapsed } from './clock.ts'
import { addressIn } from './documents.ts'
import { NOBODY } from './far-end.ts'
import { runUtterance } from './run-utterance.ts'
import type { GatherVerb } from './verbs.ts'
import type { VerbHost } from './world.ts'

/**
 * Collects keys, prompting meanwhile; the first key ends the prompts. The keys go to the verb's action, which says
 * what comes next; without any key the next verb does.
 */
export async function runGather(
  host: VerbHost,
  verb: GatherVerb,
  { documentUrl, signal }: { documentUrl: string; signal: AbortSignal },
): Promise<DocumentSource | null> {
  const keypad = new Keypad(verb)
  const onKey = (digit: string) => keypad.press(digit)
  // Keys count from here on, though a prompt may still have to be made.
  host.line.connect({ ...NOBODY, key: onKey })
  const prompting = AbortSignal.any([signal, keypad.touched])
  for (const prompt of verb.prompts) {
    if (!prompting.aborted) await runUtterance(host, prompt, { documentUrl, onKey, signal: prompting })
  }
  host.line.connect({ ...NOBODY, key: onKey })
  while (!keypad.isComplete && !signal.aborted) {
    if (!(await keypad.nextKey(host.world.clock, verb.timeoutMs, signal))) break
  }
  if (signal.aborted || (keypad.digits === '' && !verb.actionOnEmpty)) return null
  return {
    kind: 'url',
    url: addressIn(documentUrl, verb.action),
    method: verb.method,
    form: [
      ['Digits', keypad.digits],
      ['msg', 'Gather End'],
    ],
  }
}

class Keypad {
  digits = ''
  isComplete = false
  #verb: GatherVerb
  #touched = new AbortController()
  #pressed = new AbortController()

  constructor(verb: GatherVerb) {
    this.#verb = verb
  }

  /** Aborts with the first key. */
  get touched(): AbortSignal {
    return this.#touched.signal
  }

  press(digit: string): void {
    if (this.isComplete) return
    const isFinish = digit === this.#verb.finishOnKey
    if (!isFinish) this.digits += digit
    this.isComplete = isFinish || this.digits.length >= this.#verb.mostDigits
    this.#touched.abort()
    this.#pressed.abort()
    this.#pressed = new AbortController()
  }

  /** Waits for a key; false when none came in time. */
  async nextKey(clock: Clock, timeoutMs: number, signal: AbortSignal): Promise<boolean> {
    const pressed = this.#pressed.signal
    await elapsed(clock, timeoutMs, AbortSignal.any([signal, pressed]))
    return pressed.aborted
  }
}
