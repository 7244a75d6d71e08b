import { describe, expect, it } from 'vitest'
import { type Cue, REHEARSAL, ScriptedBrain } from './brain.ts'
import { readScript } from './script.ts'
import { ScriptBook } from './script-book.ts'

const NOTHING: Cue = { kind: 'turn', heard: null, spokenSeconds: 0, keys: null, tool: null, words: null, tools: [] }
const cue = (fields: Partial<Cue>): Cue => ({ ...NOTHING, ...fields })

function brainOf(...rules: unknown[]): ScriptedBrain {
  return new ScriptedBrain(readScript({ rules }, 'script'))
}

describe('a scripted brain', () => {
  it('follows the first rule of which all conditions hold', () => {
    const brain = brainOf(
      { when: { greeting: true }, say: 'Hello.' },
      { when: { turn: 2, says: 'price' }, say: 'Ten.' },
      { when: { says: ['price', 'cost'] }, say: 'It depends.' },
      { when: { dtmf: '1' }, say: 'One.' },
      { when: { dtmf: 'any' }, say: 'Keys: {keys}.' },
      { when: { after_tool: 'look_up' }, say: 'Found {output.name}: {output}' },
      { say: 'Anything else?' },
    )
    const said = [
      cue({ kind: 'greeting' }),
      cue({ heard: 'What is the price?' }),
      cue({ heard: 'And the price of that?' }),
      cue({ heard: 'What does it cost?' }),
      cue({ kind: 'keys', keys: '1' }),
      cue({ kind: 'keys', keys: '12' }),
      cue({ kind: 'tool', tool: { name: 'look_up', output: '{"name":"Ada"}' } }),
      cue({ heard: 'Hm.' }),
    ].map((each) => brain.reply(each).say)
    expect(said).toEqual([
      'Hello.',
      'It depends.',
      'Ten.',
      'It depends.',
      'One.',
      'Keys: 1 2.',
      'Found Ada: {"name":"Ada"}',
      'Anything else?',
    ])
  })

  it('says what stands deep in an answer, as in the body of a request over HTTP', () => {
    const brain = brainOf({
      when: { after_tool: 'any' },
      say: 'It is {output.body.0.state}{output.body.0.state.more}.',
    })
    const output = '{"status":200,"body":[{"state":"on its way"}]}'
    expect(brain.reply(cue({ kind: 'tool', tool: { name: 'order_status', output } })).say).toBe('It is on its way.')
  })

  it('counts only the turns of the caller', () => {
    const brain = brainOf({ when: { turn: 1 }, say: 'First.' }, { when: { turn: 2 }, say: 'Second.' })
    const kinds = ['greeting', 'turn', 'tool', 'keys', 'nudge', 'instructed', 'turn'] as const
    expect(kinds.map((kind) => brain.reply(cue({ kind })).say).filter((say) => /First|Second/.test(say))).toEqual([
      'First.',
      'Second.',
    ])
  })

  it('calls what is among the tools, and tells what is not', () => {
    const brain = brainOf(
      { when: { turn: 1 }, call: [{ name: 'a' }, { name: 'b' }] },
      { when: { turn: 2 }, say: 'Bye.', end: true },
    )
    const first = brain.reply(cue({ tools: ['a'] }))
    expect(first).toMatchObject({ say: '', calls: [{ name: 'a' }], problem: 'not among the tools of this session: b' })
    const last = brain.reply(cue({ tools: ['end_call'] }))
    expect(last).toMatchObject({ say: 'Bye.', calls: [{ name: 'end_call' }], problem: null })
  })

  it('takes its variants in turn', () => {
    const brain = brainOf({ say: ['A.', 'B.'] })
    expect([1, 2, 3].map(() => brain.reply(NOTHING).say)).toEqual(['A.', 'B.', 'A.'])
  })

  it('says what the client wants said where the script is silent', () => {
    const brain = brainOf({ when: { turn: 1 }, say: 'Scripted.' })
    expect(brain.reply(cue({ kind: 'greeting', words: 'Ada speaking.' })).say).toBe('Ada speaking.')
    expect(brain.reply(cue({ kind: 'instructed', words: 'One moment.' })).say).toBe('One moment.')
    expect(brain.reply(cue({ kind: 'turn' })).say).toBe('Scripted.')
  })

  it('says plainly that it is a rehearsal, and repeats what it was told', () => {
    const brain = brainOf()
    expect(brain.reply(cue({ kind: 'greeting' })).say).toContain('do not understand speech')
    expect(brain.reply(cue({ heard: 'I am Ada.' })).say).toBe(
      'You said: I am Ada. This is a rehearsal, so I only repeat it.',
    )
    expect(brain.reply(cue({ spokenSeconds: 2.2 })).say).toContain('2 seconds')
  })

  it('tells nobody who was silent that it has heard them', () => {
    const brain = brainOf()
    const said = [1, 2, 3].map(() => brain.reply(cue({ kind: 'instructed', spokenSeconds: 0 })).say)
    expect(said.join(' ')).not.toMatch(/heard you|Thank you/)
  })

  it('gives an answer again until something of it was given out, and stays in step', () => {
    const brain = brainOf({ when: { turn: 1 }, say: 'First.' }, { when: { turn: 2 }, say: 'Second.' })
    brain.reply(cue({ kind: 'greeting' }))
    brain.delivered()
    expect(brain.reply(cue({ kind: 'turn' })).say).toBe('First.')
    expect(brain.reply(cue({ kind: 'nudge' })).say).toBe('First.')
    expect(brain.reply(cue({ kind: 'instructed', words: 'One moment.' })).say).toBe('One moment.')
    brain.delivered()
    expect(brain.reply(cue({ kind: 'greeting' })).say).toBe('First.')
    brain.delivered()
    expect(brain.reply(cue({ kind: 'nudge' })).say).toContain('still there')
    expect(brain.reply(cue({ kind: 'turn' })).say).toBe('Second.')
  })

  it('stays in step when asked beside the conversation', () => {
    const brain = brainOf({ when: { turn: 1 }, say: 'First.' })
    expect(brain.aside(cue({ kind: 'turn', words: 'Aside.' })).say).toBe('Aside.')
    expect(brain.reply(cue({ kind: 'turn' })).say).toBe('First.')
  })

  it('names what is wrong in a script', () => {
    expect(() => readScript({ rules: [{ when: { turns: 1 } }] }, 'agent')).toThrow(
      "Unknown parameter: 'agent.rules[0].when.turns'.",
    )
    expect(() => readScript({ rules: [{ call: { arguments: {} } }] }, 'agent')).toThrow("'agent.rules[0].call.name'")
  })
})

describe('the plain rehearsal', () => {
  it('says so after the greeting that the client wants, or after its own', () => {
    const greet = (words: string | null) => new ScriptedBrain(REHEARSAL).reply(cue({ kind: 'greeting', words })).say
    const rest = ' This is a rehearsal: I am a simulated agent, and I do not understand speech.'
    expect([greet('Ada speaking.'), greet(null)]).toEqual([`Ada speaking.${rest}`, `Hello.${rest}`])
  })

  it('ends the call when the caller says goodbye', () => {
    const reply = new ScriptedBrain(REHEARSAL).reply(cue({ heard: 'Thank you, good bye.', tools: ['end_call'] }))
    expect(reply).toMatchObject({ say: 'Goodbye.', calls: [{ name: 'end_call' }] })
  })
})

describe('a script book', () => {
  const hints = { query: null, model: 'gpt-realtime', instructions: '', metadata: null }
  const bookOf = () => {
    const book = new ScriptBook()
    book.set('order', readScript({ rules: [{ say: ['One.', 'Two.'] }] }, 'script'))
    return book
  }

  it.each([
    { ...hints, query: 'order' },
    { ...hints, model: 'rehearsal:order' },
    { ...hints, instructions: 'You are Ada. [script: order]' },
    { ...hints, metadata: 'order' },
  ])('finds the script that a session names', (named) => {
    expect(bookOf().open(named).reply(NOTHING).say).toBe('One.')
  })

  it('has the plain rehearsal for who names none, or one that it does not know', () => {
    expect(
      bookOf()
        .open({ ...hints, query: 'other' })
        .reply(cue({ kind: 'greeting' })).say,
    ).toContain('rehearsal')
  })

  it('begins anew in each session, unless the sessions are one conversation', () => {
    const book = bookOf()
    const twice = () => [1, 2].map(() => book.open({ ...hints, query: 'order' }).reply(NOTHING).say)
    expect(twice()).toEqual(['One.', 'One.'])
    book.set('order', readScript({ rules: [{ say: ['One.', 'Two.'] }] }, 'script'), { isShared: true })
    expect(twice()).toEqual(['One.', 'Two.'])
  })
})
