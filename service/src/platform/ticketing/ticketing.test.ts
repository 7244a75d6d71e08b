import { describe, expect, it } from 'vitest'
import type { OutboundRequest } from '../outbound/exchange.ts'
import { OutboundFault } from '../outbound/fault.ts'
import { makeTicketSystems } from './registry.ts'

/** What a system is asked for, and what it says. */
function systems(status: number, body: string) {
  const asked: OutboundRequest[] = []
  const made = makeTicketSystems({
    async request(request) {
      asked.push(request)
      return { status, headers: {}, body: Buffer.from(body), isWhole: true, isTooLong: false }
    },
  })
  return { asked, ...made }
}

const of = (token: string | null) => ({ base_url: 'https://tickets.example.com/api/', token })

describe('ticket systems', () => {
  it.each([
    ['generic', '{"status":"open"}', 'open'],
    ['generic', '{"status":"pending","more":1}', 'open'],
    ['generic', '{"status":"closed"}', 'closed'],
    ['zendesk', '{"ticket":{"status":"new"}}', 'open'],
    ['zendesk', '{"ticket":{"status":"open"}}', 'open'],
    ['zendesk', '{"ticket":{"status":"pending"}}', 'open'],
    ['zendesk', '{"ticket":{"status":"hold"}}', 'open'],
    ['zendesk', '{"ticket":{"status":"solved"}}', 'closed'],
    ['zendesk', '{"ticket":{"status":"closed"}}', 'closed'],
  ] as const)('%s reads %s as %s', async (name, body, state) => {
    expect(await systems(200, body)[name].find(of('t'), '1')).toBe(state)
  })

  it('are asked at their addresses, whatever stands in an id', async () => {
    const { asked, generic, zendesk } = systems(404, '')
    expect(await generic.find(of('t'), 'a/b?c')).toBeNull()
    expect(await zendesk.find(of(null), '7')).toBeNull()
    for (const id of ['.', '..']) expect(await generic.find(of('t'), id)).toBeNull()
    expect(asked.map(({ url, headers }) => [url, headers['authorization']])).toEqual([
      ['https://tickets.example.com/api/tickets/a%2Fb%3Fc', 'Bearer t'],
      ['https://tickets.example.com/api/api/v2/tickets/7.json', undefined],
    ])
  })

  it('take an API token of Zendesk as a password', async () => {
    const { asked, zendesk } = systems(404, '')
    await zendesk.find(of('me@example.com/token:abc'), '7')
    const basic = Buffer.from('me@example.com/token:abc').toString('base64')
    expect(asked[0]?.headers['authorization']).toBe(`Basic ${basic}`)
  })

  it('say which kind of fault it was', async () => {
    for (const [status, body, kind] of [
      [401, '', 'credentials'],
      [403, '', 'credentials'],
      [429, '', 'unreachable'],
      [500, '', 'unreachable'],
      [301, '', 'answer'],
      [200, '[]', 'answer'],
    ] as const) {
      await expect(systems(status, body).generic.find(of('t'), '1')).rejects.toMatchObject({ kind })
    }
    const silent = makeTicketSystems({ request: () => Promise.reject(new OutboundFault('timeout', 'Too late.')) })
    await expect(silent.zendesk.find(of('t'), '1')).rejects.toMatchObject({ kind: 'unreachable' })
  })
})
