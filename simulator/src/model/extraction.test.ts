import { describe, expect, it } from 'vitest'
import { fillIn } from './extraction.ts'

function filled(json_schema: object, ...turns: [role: string, text: string][]): unknown {
  const transcript = turns.map(([role, text]) => ({ role, text, interrupted: false }))
  return JSON.parse(fillIn([JSON.stringify({ json_schema, transcript })]) ?? '')
}

const TALK: [role: string, text: string][] = [
  ['agent', 'Hello, do you want a booking or a refund?'],
  ['caller', 'My name is Ann Miller, and I want a table for 4 on Friday. Urgent!'],
  ['agent', 'Which number can we reach you at?'],
  ['caller', '+1 202 555 0101, or ann@example.com.'],
]

describe('a rehearsed extraction', () => {
  it('finds in the words what the names and types of the schema ask for', () => {
    const schema = {
      type: 'object',
      properties: {
        customer_name: { type: 'string' },
        guests: { type: 'integer', minimum: 1, maximum: 20 },
        day: { type: 'string', maxLength: 6 },
        email: { type: ['string', 'null'] },
        phone: { anyOf: [{ type: 'null' }, { type: 'string' }] },
        urgent: { type: 'boolean' },
        topic: { $ref: '#/$defs/topic' },
        wishes: { type: 'array', items: { enum: ['table', 'window', 'friday'] } },
      },
      $defs: { topic: { enum: ['complaint', 'booking'] } },
    }
    expect(filled(schema, ...TALK)).toEqual({
      ...{ customer_name: 'Ann Miller', guests: 4, day: 'Friday', email: 'ann@example.com' },
      ...{ phone: '+1 202 555 0101', urgent: true, topic: 'booking', wishes: ['table', 'friday'] },
    })
  })

  it('leaves out what it does not find, and fills in the least that fits where it must', () => {
    const schema = {
      type: 'object',
      required: ['email', 'phone', 'guests', 'paid', 'topic', 'address', 'kind', 'notes'],
      properties: {
        email: { type: 'string', minLength: 3 },
        phone: { type: ['string', 'null'] },
        guests: { type: 'integer', minimum: 2 },
        paid: { type: 'boolean' },
        topic: { enum: ['complaint', 'booking'] },
        address: { type: 'object', required: ['day'], properties: { day: { type: 'string' } } },
        kind: { const: 'call' },
        notes: { type: 'array', minItems: 1, items: { type: 'string' } },
        date: { type: 'string' },
      },
    }
    expect(filled(schema, ['agent', 'Hello.'], ['caller', 'Hm.'])).toEqual({
      ...{ email: '...', phone: null, guests: 2, paid: false, topic: 'complaint', address: { day: '' }, kind: 'call' },
      notes: ['Hm.'],
    })
  })

  it('ends where a schema refers to itself', () => {
    const schema = { type: 'object', required: ['next'], properties: { next: { $ref: '#' } } }
    expect(filled(schema, ['caller', 'Hello?'])).toMatchObject({ next: { next: {} } })
  })

  it.each(['Hello.', '{}', '{"json_schema": {}}', '{"json_schema": {}, "transcript": [{}]}'])(
    'takes %s for nothing to fill in',
    (text) => expect(fillIn([text])).toBeNull(),
  )
})
