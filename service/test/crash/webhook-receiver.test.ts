import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { KillTrap, type Moment } from './moments.ts'
import { startWebhookReceiver, type WebhookReceiver } from './webhook-receiver.ts'

describe('the receiver of webhooks', () => {
  let trap: KillTrap
  let receiver: WebhookReceiver

  beforeEach(async () => {
    trap = new KillTrap()
    receiver = await startWebhookReceiver(trap)
  })
  afterEach(() => receiver.close())

  const send = (id: string, body: string) =>
    fetch(receiver.url, { method: 'POST', headers: { 'webhook-id': id }, body }).then(({ status }) => status)
  const counted = () => [...receiver.delivered].map(([id, { times, bodies }]) => [id, times, bodies.size])

  it('counts what comes by its id, and the bodies that come under one', async () => {
    expect(await Promise.all([send('a', '1'), send('b', '1')])).toEqual([204, 204])
    expect(receiver.takeRepeats()).toBe(0)
    await send('a', '1')
    await send('b', '2')
    expect(counted().sort()).toEqual([
      ['a', 2, 1],
      ['b', 2, 2],
    ])
    expect([receiver.takeRepeats(), receiver.takeRepeats()]).toEqual([2, 0])
  })

  it.each([
    ['before', []],
    ['after', [['a', 1, 1]]],
  ] as const)('does not answer when the trap shuts %s it was counted', async (when, expected) => {
    const isWanted = (moment: Moment) => moment.where === 'webhook' && moment.when === when
    const sprung = trap.arm(isWanted, { times: 1, kill: () => {} })
    await expect(send('a', '1')).rejects.toThrow()
    await sprung
    expect(counted()).toEqual(expected)
    expect(await send('a', '1')).toBe(204)
  })
})
