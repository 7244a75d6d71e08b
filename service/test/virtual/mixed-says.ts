import { letters } from '../../src/voice/session/word-ends.ts'
import { areTheirs } from './mixed-look.ts'
import { happeningsOf, type MixedRun } from './mixed-run.ts'

function unless(isRight: boolean, fault: string): string[] {
  return isRight ? [] : [fault]
}

/** So long a supervisor's words may wait for the agent to have said its own, and to be made. */
const SAID_WITHIN_MS = 20_000
/** What happens so soon after they are said may be what keeps them from being heard. */
const BEHIND_MS = 1_000
/** What has happened so long before it has been dealt with. */
const BEFORE_MS = 15_000

/** What keeps no words from being said; nor does a session that is lost, and had again. */
const QUIET: readonly string[] = ['listen', 'whisper', 'say']

/** What a supervisor has the agent say is heard whole, and once, unless somebody speaks or something happens meanwhile. */
export function faultsOfSays(run: MixedRun): string[] {
  const { world, says, call } = run
  if (call.speech?.some(({ failsAs }) => failsAs)) return []
  const said = world.transcript.filter(({ role }) => role === 'agent').map(({ text }) => letters(text))
  return says.flatMap(({ text, atMs }) => {
    const words = letters(text)
    const times = said.join(' ').split(words).length - 1
    const parts = said.filter((one) => one.includes(words)).length
    return [
      ...unless(parts <= 1, `was told ${parts} times to say: ${text}`),
      ...unless(times >= 1 || isDisturbed(run, atMs), `was not heard to say, from ${atMs} on: ${text}`),
    ]
  })
}

/** Whether anything but the conversation happens from then on that may keep words from being said or heard whole. */
function isDisturbed({ world, call, looks }: MixedRun, atMs: number): boolean {
  const untilMs = atMs + SAID_WITHIN_MS
  const isMeanwhile = (startMs: number, endMs = startMs) => atMs - BEHIND_MS <= endMs && startMs <= untilMs
  const happens = happeningsOf(call).some(({ atMs: happensMs, incident }) => {
    if (incident.type === 'mishap') return happensMs <= untilMs
    const isOfSession = incident.type === 'expire' || (incident.type === 'lose_model' && incident.how === 'retry')
    const isQuiet = isOfSession || QUIET.includes(incident.type)
    return !isQuiet && atMs - BEFORE_MS <= happensMs && happensMs <= untilMs
  })
  return (
    happens ||
    !areTheirs(looks, { fromMs: atMs, untilMs }) ||
    world.notes.some(({ type }) => type === 'resumed') ||
    world.caller.utterances.some(({ startMs, endMs }) => isMeanwhile(startMs, endMs)) ||
    world.keys.some((key) => isMeanwhile(key.atMs))
  )
}
