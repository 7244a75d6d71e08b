import type { Rule, Script, ToolCall, When } from './script.ts'
import { saysPhrase } from './words.ts'

/** Why the model is asked to speak, and what it knows of it. */
export type Cue = {
  kind: 'greeting' | 'turn' | 'keys' | 'tool' | 'instructed' | 'nudge'
  /** What the caller typed, or said in audio that is known; null when it is not. */
  heard: string | null
  /** How long the caller spoke, in seconds; 0 when nothing was spoken. */
  spokenSeconds: number
  keys: string | null
  tool: { name: string; output: string } | null
  /** Words that the client wants said as they stand. */
  words: string | null
  /** Names of the functions that may be called. */
  tools: string[]
}

/** What to answer. */
export type Reply = {
  /** What is said first, in a message of its own, and how long is thought behind that, as models do that reason. */
  ahead?: { say: string; thinkMs: number }
  say: string
  calls: ToolCall[]
  /** How long to think first; null leaves it to the model's pace. */
  thinkMs: number | null
  /** What the script wanted and could not have, for the report. */
  problem: string | null
}

/** Answers cues, one after the other, of one conversation. */
export type Brain = {
  /** The answer to a cue. Asked again before anything of an answer was given out, it is the same answer. */
  reply(cue: Cue): Reply
  /** Something of the latest answer was given out. */
  delivered(): void
  /** The answer to a question beside the conversation; it changes nothing in it. */
  aside(cue: Cue): Reply
}

const GREETING =
  'Hello. This is a rehearsal: I am a simulated agent, and I do not understand speech. Say something, and I will answer.'
const FAREWELL_WORDS = ['goodbye', 'good bye', 'bye']
/** To who has said nothing. */
const UNHEARD = [
  'I am listening. With a real model behind this number you would get a real answer now.',
  'I am still here, and only a simulated agent: in a rehearsal nobody understands speech.',
]
const ANSWERS = [
  'I heard you speak for {seconds} seconds. This is a rehearsal, so I do not understand what you said.',
  'Thank you. I am only a simulated agent: in a rehearsal nobody understands speech.',
  'I am listening. With a real model behind this number you would get a real answer now.',
]
const DEFAULT_END_TOOL = 'end_call'

/** A brain without a script of its own: it says plainly that this is a rehearsal. */
export const REHEARSAL: Script = {
  name: 'rehearsal',
  rules: [
    {
      when: { greeting: true },
      say: '{words} This is a rehearsal: I am a simulated agent, and I do not understand speech.',
    },
    { when: { says: FAREWELL_WORDS }, say: 'Goodbye.', end: true },
  ],
}

/** A brain that follows a script, and where that is silent says what the client wants said or that this is a rehearsal. */
export class ScriptedBrain implements Brain {
  readonly #script: Script
  #turns = 0
  #greeted = false
  #owed: Reply | null = null
  #latest: Reply | null = null
  #picks = new Map<object, number>()

  constructor(script: Script) {
    this.#script = script
  }

  reply(cue: Cue): Reply {
    this.#latest = this.#answer(cue)
    return this.#latest
  }

  delivered(): void {
    if (this.#latest === this.#owed) this.#owed = null
  }

  aside(cue: Cue): Reply {
    return saying(cue.words ?? 'This is a rehearsal: there is nothing to say beside the conversation.')
  }

  #answer(cue: Cue): Reply {
    // Nothing new was said: the client wants what it did not get. So does a session that takes over from a lost one.
    const isUnprompted = cue.kind === 'nudge' || cue.kind === 'instructed' || (cue.kind === 'greeting' && this.#greeted)
    if (this.#owed && isUnprompted && cue.words === null) return this.#owed
    if (cue.kind === 'turn') this.#turns++
    const rule = this.#script.rules.find((candidate) => this.#holds(candidate.when ?? {}, cue))
    if (cue.kind === 'greeting') this.#greeted = true
    const reply = rule ? this.#follow(rule, cue) : saying(this.#improvise(cue))
    // Words that the client has said meanwhile are no answer: that is still owed.
    if (!this.#owed || !isUnprompted) this.#owed = reply
    return reply
  }

  #holds(when: When, cue: Cue): boolean {
    const { greeting, turn, says, dtmf, after_tool: afterTool, instructed } = when
    if (greeting !== undefined && greeting !== (cue.kind === 'greeting' && !this.#greeted)) return false
    if (turn !== undefined && (cue.kind !== 'turn' || turn !== this.#turns)) return false
    if (says !== undefined && ![says].flat().some((phrase) => saysPhrase(cue.heard ?? '', phrase))) return false
    if (dtmf !== undefined && (cue.keys === null || (dtmf !== 'any' && dtmf !== cue.keys))) return false
    if (afterTool !== undefined && (!cue.tool || (afterTool !== 'any' && afterTool !== cue.tool.name))) return false
    return instructed === undefined || instructed === (cue.kind === 'instructed')
  }

  #follow(rule: Rule, cue: Cue): Reply {
    const wanted = [rule.call ?? []].flat()
    if (rule.end)
      wanted.push({
        name: this.#script.end_tool ?? DEFAULT_END_TOOL,
        arguments: { reason: 'the conversation is over' },
      })
    const calls = wanted.filter((call) => cue.tools.includes(call.name))
    const missing = wanted.filter((call) => !calls.includes(call)).map((call) => call.name)
    const say = rule.say === undefined ? '' : filled(this.#pick(rule, [rule.say].flat()), cue)
    const problem = missing.length === 0 ? null : `not among the tools of this session: ${missing.join(', ')}`
    const silent = say === '' && calls.length === 0
    const reply = { say: silent ? 'This rehearsal goes on.' : say, calls, thinkMs: rule.think_ms ?? null, problem }
    if (!rule.ahead) return reply
    return { ...reply, ahead: { say: filled(rule.ahead.say, cue), thinkMs: rule.ahead.think_ms ?? 0 } }
  }

  #improvise(cue: Cue): string {
    if (cue.words !== null) return cue.words
    if (cue.kind === 'greeting') return this.#turns === 0 ? GREETING : 'I am here again. This is a rehearsal.'
    if (cue.kind === 'nudge') return 'Are you still there? This is a rehearsal.'
    if (this.#script.otherwise && this.#script.otherwise.length > 0)
      return filled(this.#pick(this.#script, this.#script.otherwise), cue)
    if (cue.kind === 'tool') return 'Thank you, that is done. This is a rehearsal.'
    if (cue.keys !== null) return filled('You pressed {keys}. This is a rehearsal.', cue)
    if (cue.heard !== null) return filled('You said: {heard}. This is a rehearsal, so I only repeat it.', cue)
    const answers = cue.spokenSeconds > 0 ? ANSWERS : UNHEARD
    return filled(this.#pick(answers, answers), cue)
  }

  /** The next of several variants of one `owner`, in turn. */
  #pick(owner: object, variants: readonly string[]): string {
    const count = this.#picks.get(owner) ?? 0
    this.#picks.set(owner, count + 1)
    return variants[count % variants.length] ?? ''
  }
}

function saying(say: string): Reply {
  return { say, calls: [], thinkMs: null, problem: null }
}

/** Puts what is known into `{heard}`, `{keys}`, `{seconds}`, `{words}`, `{output}` and `{output.field}`, also of a field in a field. */
function filled(template: string, cue: Cue): string {
  return template.replaceAll(/\{(heard|keys|seconds|words|output)((?:\.\w+)*)\}/g, (_, name: string, path: string) => {
    if (name === 'heard') return (cue.heard ?? '').replace(/[.!?]+$/, '')
    if (name === 'keys') return [...(cue.keys ?? '')].join(' ')
    if (name === 'words') return cue.words ?? 'Hello.'
    if (name === 'seconds') return String(Math.max(1, Math.round(cue.spokenSeconds)))
    return outputField(cue.tool?.output ?? '', path.split('.').slice(1))
  })
}

function outputField(output: string, path: string[]): string {
  if (path.length === 0) return output
  try {
    const value = path.reduce(memberOf, JSON.parse(output) as unknown)
    if (value === undefined) return ''
    return typeof value === 'string' ? value : JSON.stringify(value)
  } catch {
    return ''
  }
}

function memberOf(value: unknown, field: string): unknown {
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>)[field] : undefined
}
