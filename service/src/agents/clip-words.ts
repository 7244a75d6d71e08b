import { createHash } from 'node:crypto'
import type { Speech } from '../platform/speech/port.ts'
import type { CompleteAgentConfig } from '../tenancy/agent-config-defaults.ts'
import type { TenantRuntime } from '../tenancy/tenant-runtime.ts'

/**
 * Something that callers hear: what the law wants said, then the greeting, and whatever bridges a wait. `words`: as the document or
 * the agent has them; `text`: what is really said for them.
 */
export type ClipWords = { kind: 'disclosure' | 'greeting' | 'filler'; words: string; text: string }

/** A clip that a call may need. */
export type WantedClip = ClipWords & { key: string; speech: Speech; voice: string | null; speed: number }

/** What is said at the end of a greeting where the model is simulated: nobody is to take it for more. */
const REHEARSAL_NOTICE = 'This is a rehearsal: I am a simulated agent, and I do not understand speech.'

type Spoken = { tenant: TenantRuntime; config: CompleteAgentConfig }

/** The clips of an agent, its first words in the order in which they are heard; none of what it words itself. */
export function wantedClips(
  { tenant, config }: Spoken,
  { speech, voice, isRehearsal }: { speech: Speech; voice: string | null; isRehearsal: boolean },
): WantedClip[] {
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
  const { greeting, fillers } = config
  const notice = isRehearsal ? ` ${REHEARSAL_NOTICE}` : ''
  return [
    ...(disclosure ? [{ kind: 'disclosure' as const, words: disclosure, text: disclosure }] : []),
    ...(greeting === '' ? [] : [{ kind: 'greeting' as const, words: greeting, text: `${greeting}${notice}` }]),
    ...fillers.phrases.map((words) => ({ kind: 'filler' as const, words, text: words })),
  ]
}

/** The same words in the same voice have the same key: whatever else changes, they are spoken once. */
function clipKey(parts: readonly string[]): string {
  return createHash('sha256').update(JSON.stringify(parts)).digest('hex')
}
