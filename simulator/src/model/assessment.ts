import { isListOf, objectIn } from './material.ts'
import { saysPhrase } from './words.ts'

/** What a client wants assessed, of whatever protocol of its own: criteria, and who said what. */
type Material = { criteria: { name: string }[]; transcript: { role: string; text: string }[] }

const RUDE = [
  ...['shut up', 'stupid', 'idiot', 'go away', 'i do not care', "i don't care", 'not my problem', 'stop bothering me'],
  ...['what do you want', 'leave me alone'],
]
const USELESS = [
  ...['i cannot help', "i can't help", 'i do not know', "i don't know", 'no idea', 'ask somebody else', 'not my job'],
  ...['there is nothing i can do'],
]
const DOUBTED = ['that is wrong', "that's wrong", 'that is not true', "that's not true", 'that is not what i asked']
const UNHAPPY = ['terrible', 'useless', 'ridiculous', 'you are no help', 'this is hopeless', 'i want to complain']

/** A call without a fault: nobody is perfect in a rehearsal. */
const FAULTLESS = 0.95
const COST = { rude: 0.5, useless: 0.4, doubted: 0.4, unhappy: 0.25, repeated: 0.3 }

/**
 * Assesses a conversation as a chat model would be asked to: by lists of words, as the JSON that was asked for. Null when none of
 * the texts is one to be assessed: JSON with `criteria` and a `transcript`.
 */
export function assess(texts: string[]): string | null {
  const material = texts.map(materialIn).find((found) => found !== null)
  if (!material) return null
  const looked = look(material.transcript)
  const criteria = material.criteria.map(({ name }) => ({ name, ...scored(name, looked) }))
  const [agent, caller] = [saidBy('agent', material.transcript), saidBy('caller', material.transcript)]
  const summary =
    `A rehearsal, assessed by lists of words: the agent spoke ${times(agent.length)} and the caller ${times(caller.length)}. ` +
    (looked.faults.length === 0 ? 'Nothing went wrong.' : looked.faults.map(({ told }) => told).join(' '))
  return JSON.stringify({ criteria, summary })
}

function times(count: number): string {
  return count === 1 ? 'once' : `${count} times`
}

type Fault = { kind: keyof typeof COST; told: string }
type Looked = { faults: Fault[]; isSilent: boolean }

function look(transcript: Material['transcript']): Looked {
  const [agent, caller] = [saidBy('agent', transcript), saidBy('caller', transcript)]
  const found = (kind: Fault['kind'], said: string[], phrases: string[], who: string): Fault[] =>
    phrases
      .filter((phrase) => said.some((text) => saysPhrase(text, phrase)))
      .map((phrase) => ({ kind, told: `The ${who} said "${phrase}".` }))
  const repeated = agent.find((text, index) => text !== '' && agent.indexOf(text) !== index)
  return {
    faults: [
      ...found('rude', agent, RUDE, 'agent'),
      ...found('useless', agent, USELESS, 'agent'),
      ...found('doubted', caller, DOUBTED, 'caller'),
      ...found('unhappy', caller, UNHAPPY, 'caller'),
      ...(repeated === undefined ? [] : [{ kind: 'repeated' as const, told: `The agent repeated "${repeated}".` }]),
    ],
    isSilent: agent.length === 0,
  }
}

/** What each of the usual criteria looks at; any other one at everything. */
const LOOKS_AT: Record<string, Fault['kind'][]> = {
  helpfulness: ['useless', 'rude', 'unhappy', 'repeated'],
  accuracy: ['doubted', 'useless'],
  tone: ['rude', 'unhappy'],
}

function scored(name: string, { faults, isSilent }: Looked): { score: number; reason: string } {
  if (isSilent) return { score: 0, reason: 'The agent said nothing.' }
  const kinds = LOOKS_AT[name]
  const counted = kinds ? faults.filter(({ kind }) => kinds.includes(kind)) : faults
  const score = counted.reduce((left, { kind }) => left - COST[kind], FAULTLESS)
  const reason = counted[0]?.told ?? 'Nothing in the words of the call speaks against it.'
  return { score: Math.round(Math.max(0, score) * 100) / 100, reason }
}

function saidBy(role: string, transcript: Material['transcript']): string[] {
  return transcript.filter((turn) => turn.role === role).map(({ text }) => text)
}

function materialIn(text: string): Material | null {
  const { criteria, transcript } = objectIn(text)
  const isMaterial = isListOf(criteria, 'name') && isListOf(transcript, 'role', 'text')
  return isMaterial ? ({ criteria, transcript } as Material) : null
}
