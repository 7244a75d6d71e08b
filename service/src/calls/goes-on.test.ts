import { describe, expect, it } from 'vitest'
import type { CarrierCall, CarrierCallStatus } from '../platform/telephony/port.ts'
import { CarrierError } from '../platform/telephony/port.ts'
import { tenantTold } from '../records/calls.fixture.ts'
import type { CarrierOutcome, CarrierRequests } from './carrier-requests.ts'
import { makeGoesOn } from './goes-on.ts'

const acme = tenantTold('acme')
const found = (status: CarrierCallStatus): CarrierOutcome<CarrierCall | null> => ({
  type: 'done',
  value: { callSid: 'CA1', status, durationSeconds: null, answeredBy: null },
})

describe('whether a call goes on', () => {
  it.each([
    ['in progress', found('in-progress'), true],
    ['over', found('completed'), false],
    ['unknown to its carrier', { type: 'done', value: null }, false],
    ['none of the account', { type: 'refused', err: new CarrierError('rejected', 'No such call.') }, false],
    ['not told of', { type: 'failed', err: new Error('too late') }, null],
    ['of a tenant without an account', { type: 'no_account' }, null],
  ] as const)('is asked of its carrier: one that is %s', async (_what, outcome, expected) => {
    // Sound: it answers what is asked for.
    const make = (async () => outcome) as unknown as CarrierRequests['make']
    expect(await makeGoesOn({ make })(acme, 'CA1')).toBe(expected)
  })
})
