import { describe, expect, it } from 'vitest'
import { assess } from './assessment.ts'

const CRITERIA = ['helpfulness', 'accuracy', 'tone', 'speed'].map((name) => ({ name, description: '' }))

type Assessed = { criteria: { name: string; score: number; reason: string }[]; summary: string }

function assessed(...turns: [role: string, text: string][]): Record<string, number> {
  const transcript = turns.map(([role, text]) => ({ role, text, interrupted: false }))
  const answer = assess([JSON.stringify({ criteria: CRITERIA, transcript })])
  const { criteria } = JSON.parse(answer ?? '') as Assessed
  return Object.fromEntries(criteria.map(({ name, score }) => [name, score]))
}

describe('a rehearsed assessment', () => {
  it('finds nothing to say against a friendly agent, by each criterion that was asked for', () => {
    const scores = assessed(['agent', 'Hello.'], ['caller', 'Are you open?'], ['agent', 'Yes, until six.'])
    expect(scores).toEqual({ helpfulness: 0.95, accuracy: 0.95, tone: 0.95, speed: 0.95 })
  })

  it('finds a rude or useless agent bad, and worse when the caller says so', () => {
    const rude = assessed(['agent', 'What do you want? I do not care.'], ['caller', 'Are you open?'])
    expect(rude['tone']).toBe(0)
    expect(rude['accuracy']).toBe(0.95)
    const useless = assessed(['caller', 'Are you open?'], ['agent', "I don't know. There is nothing I can do."])
    expect(useless['helpfulness']).toBeLessThan(0.2)
    expect(useless['tone']).toBe(0.95)
    const doubted = assessed(['agent', 'Until six.'], ['caller', "That's wrong. This is ridiculous."])
    expect(doubted).toMatchObject({ accuracy: 0.55, tone: 0.7 })
  })

  it('minds an agent that repeats itself, or says nothing', () => {
    expect(assessed(['agent', 'Hm.'], ['caller', 'Well?'], ['agent', 'Hm.'])['helpfulness']).toBe(0.65)
    expect(assessed(['caller', 'Hello?'])).toEqual({ helpfulness: 0, accuracy: 0, tone: 0, speed: 0 })
  })

  it('says how often each spoke as people say it', () => {
    const transcript = ['agent', 'caller', 'agent'].map((role) => ({ role, text: 'Hm.', interrupted: false }))
    const { summary } = JSON.parse(assess([JSON.stringify({ criteria: CRITERIA, transcript })]) ?? '') as Assessed
    expect(summary).toContain('the agent spoke 2 times and the caller once.')
  })

  it.each(['Hello.', '{', '[]', '{"criteria": [], "transcript": "x"}', '{"criteria": [{}], "transcript": []}'])(
    'takes %s for no conversation',
    (text) => expect(assess([text])).toBeNull(),
  )
})
