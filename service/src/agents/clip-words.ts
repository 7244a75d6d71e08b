import { createHash } from 'node:crypto'
import type { Speech } from '../platform/speech/port.ts'
import type { CompleteAgentConfig } from '../tenancy/agent-config-defaults.ts'
import type { TenantRuntime } from '../tenancy/tenant-runtime.ts'
import { builtInWords } from './built-in-words.ts'

/**
 * Something that callers hear: what the law wants said, then the greeting; that no model can be had, whatever bridges a wait, and what
 * is heard on hold.
 * `words`: as the document or the agent has them, for the last its address; `text`: what is really said for them.
 */
export type ClipWords = {
  kind: 'disclosure' | 'greeting' | 'apology' | 'filler' | 'hold'
  words: string
  text: string
}

/** A clip that a call may need. `speech`: what speaks it; null for what is not spoken, but fetched. */
export type WantedClip = ClipWords & { key: string; speech: Speech | null; voice: string | null; speed: number }

/** What speaks an agent's clips. `voice`: null for its own. */
export type Speaker = { speech: Speech; voice: string | null }

/** What is said at the end of a greeting where the model is simulated: nobody is to take it for more. */
const REHEARSAL_NOTICE = 'This is a rehearsal: I am a simulated agent, and I do not understand speech.'

type Spoken = { tenant: TenantRuntime; config: CompleteAgentConfig }

/** The clips of an agent, its first words in the order in which they are heard; none of what it words itself. */
export function wantedClips(
  { tenant, config }: Spoken,
  { by, isRehearsal }: { by: Speaker | null; isRehearsal: boolean },
): WantedClip[] {
  const hold = config.hold_audio === null ? [] : [holdClip(config.hold_audio)]
  return [...(by ? spokenClips({ tenant, config }, by, isRehearsal) : []), ...hold]
}

/** What is heard on hold: the file of an address is fetched once, whatever becomes of it. */
export function holdClip(url: string): WantedClip {
  return { kind: 'hold', words: url, text: '', speech: null, voice: null, speed: 1, key: clipKey(['hold', url]) }
}

function spokenClips({ tenant, config }: Spoken, { speech, voice }: Speaker, isRehearsal: boolean): WantedClip[] {
  const { speed } = config.speech
  return wordsOf({ tenant, config }, isRehearsal).map((words) => ({
    ...words,
    speech,
    voice,
    speed,
    key: clipKey([speech.model, voice ?? speech.defaultVoice, String(speed), words.text]),
  }))
}

function wordsOf({ tenant, config }: Spoken, isRehearsal: boolean): ClipWords[] {
  const { ai_disclosure: disclosure } = tenant.compliance
  const { greeting, fillers, speech } = config
  const builtIn = builtInWords(speech.language)
  const phrases = fillers.phrases.length === 0 && builtIn ? [builtIn.moment] : fillers.phrases
  const notice = isRehearsal ? ` ${REHEARSAL_NOTICE}` : ''
  return [
    ...(disclosure ? [{ kind: 'disclosure' as const, words: disclosure, text: disclosure }] : []),
    ...(greeting === '' ? [] : [{ kind: 'greeting' as const, words: greeting, text: `${greeting}${notice}` }]),
    ...(builtIn ? [{ kind: 'apology' as const, words: builtIn.sorry, text: builtIn.sorry }] : []),
    ...phrases.map((words) => ({ kind: 'filler' as const, words, text: words })),
  ]
}

/** Whether a clip is heard from a call's beginning, in its place. */
export function isFirstWords({ kind }: Pick<ClipWords, 'kind'>): boolean {
  return kind === 'disclosure' || kind === 'greeting'
}

/** The same words in the same voice have the same key: whatever else changes, they are spoken once. */
function clipKey(parts: readonly string[]): string {
  return createHash('sha256').update(JSON.stringify(parts)).digest('hex')
}
