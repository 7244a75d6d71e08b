import { beforeAll, describe, expect, it } from 'vitest'
import { type DescribedApi, describedApi } from './described-api.ts'
import { by, endpoint, fields, openEndpoint, rule } from './row.ts'
import { proofFaults, rowFaults } from './row-faults.ts'
import { ROWS } from './rows.ts'

let api: DescribedApi
beforeAll(async () => {
  api = await describedApi()
})

const OURS = by('test/interface/interface', 'has every route, each under its name, with its answers and refusals')

describe('the list of the interface', () => {
  it('has every route, each under its name, with its answers and refusals', () => {
    expect(rowFaults(ROWS, api)).toEqual([])
  })

  it('names only tests that there are', () => {
    expect(proofFaults(ROWS)).toEqual([])
  })

  it('would tell what is wrong in it', () => {
    const wrong = [
      endpoint('GET /api/v1/dnc', 'listNumbers', OURS, { answers: 'ok numbers', errors: [401, 418] }),
      endpoint('GET /api/v1/nothing', 'getNothing', OURS),
      openEndpoint('GET /livez'),
      fields(
        'Latency',
        'greeting_ms hello_ms response_p50_ms response_p95_ms',
        'getVoiceSession voice_session latency',
        OURS,
      ),
      rule('A page', 'nothing.md', by('test/interface/interface', 'a test that there is not')),
    ]
    const listed = rowFaults(wrong, api).filter((fault) => !fault.endsWith(': unlisted'))
    expect(listed).toEqual([
      'GET /api/v1/dnc: is called listDncEntries',
      'GET /api/v1/dnc: does not answer numbers',
      'GET /api/v1/dnc: does not list 418',
      'GET /api/v1/nothing: is not there',
      'GET /livez: is there: name its operation and its test',
      'Latency: getVoiceSession does not have hello_ms',
      'Latency: does not name interruptions of getVoiceSession',
      'A page: no docs/nothing.md',
    ])
    expect(rowFaults(wrong, api)).toContain('GET /api/v1/call-logs: unlisted')
    expect(proofFaults(wrong)).toHaveLength(1)
  })

  it('takes no title of a table for a test, because none runs under it', () => {
    const of = (status: string) =>
      rule('A page', 'nothing.md', by('test/cancel-call.db', `stops one that is ${status}, and tells so`))
    expect(proofFaults([of('%s')])).toHaveLength(1)
    expect(proofFaults([of('queued')])).toEqual([])
  })
})
