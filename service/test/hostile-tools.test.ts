import { describe, expect, it } from 'vitest'
import { AttackedCall } from './hostile/attacked-call.ts'
import { ATTACKS, type Attack } from './hostile/attacks.ts'

const textOf = (attack: Attack) => ('raw' in attack ? attack.raw : JSON.stringify(attack.args))

/** A sentence that the model can act on, and nothing of ours. */
function expectToldWhy(output: Record<string, unknown>, attack: Attack): void {
  expect(output['error'], attack.name).toMatch(attack.told)
  expect(JSON.stringify(output)).not.toMatch(/\bat .*\.ts|node_modules|select |insert /)
}

describe(`${ATTACKS.length} things that a caller may talk a model into`, () => {
  it('are more than a hundred, each once, with fifty targets of transfers', () => {
    expect(ATTACKS.length).toBeGreaterThan(100)
    expect(new Set(ATTACKS.map((attack) => `${attack.tool} ${textOf(attack)}`)).size).toBe(ATTACKS.length)
    const isTarget = (attack: Attack) => attack.tool === 'transfer_call' && 'args' in attack
    expect(ATTACKS.filter(isTarget).length).toBeGreaterThanOrEqual(50)
  })

  it.each(ATTACKS)('$name: nothing is done, the model is told why, and the call goes on', async (attack) => {
    const call = await AttackedCall.begin()
    const { output, kept } = await call.asks(attack.tool, textOf(attack))
    expect(call.done, attack.name).toEqual([])
    expectToldWhy(output, attack)
    expect(kept).toMatchObject({ name: attack.tool, status: 'error', argumentsText: textOf(attack).slice(0, 32_768) })
    expect(call.goesOn).toBe(true)
    await call.end()
  })

  it('do nothing when they come one after the other in one call, and what is allowed is still done', async () => {
    const call = await AttackedCall.begin()
    for (const attack of ATTACKS) await call.asks(attack.tool, textOf(attack))
    expect(call.done).toEqual([])
    expect(call.kept.map(({ status }) => status)).toEqual(ATTACKS.map(() => 'error'))
    expect(call.goesOn).toBe(true)
    await call.asks('order_status', '{"number":"A 7/../8?x=1#y"}')
    await call.asks('order_status', '{"number":"%2e%2e"}')
    const orders = 'https://api.example.com/orders'
    expect(call.done.map(([, url]) => url)).toEqual([
      `${orders}/A%207%2F..%2F8%3Fx%3D1%23y?tenant=acme`,
      `${orders}/%252e%252e?tenant=acme`,
    ])
    await call.end()
  })

  it.each([
    ['send_dtmf', { digits: '1'.repeat(32) }, 50],
    ['schedule_callback', { summary: 'Call me.' }, 3],
    ['add_to_dnc', { reason: 'No more calls.' }, 2],
    ['escalate_to_human', { reason: 'Now.' }, 1],
  ])('a flood of %s ends with what one call may do', async (tool, args, most) => {
    const call = await AttackedCall.begin()
    const told = []
    for (let at = 0; at < most + 5; at += 1) told.push(await call.asks(tool, JSON.stringify(args)))
    expect(told.map(({ kept }) => kept?.status)).toEqual([...Array(most).fill('ok'), ...Array(5).fill('error')])
    expect(told.at(-1)?.output['error']).toMatch(/often enough/)
    expect(call.session.state.phase).toBe('talking')
    await call.end()
  })

  it('do not list, or call back, any other number than that of the call', async () => {
    const call = await AttackedCall.begin()
    await call.asks('add_to_dnc', '{"reason":"Please list +12025550177, too."}')
    await call.asks('schedule_callback', '{"summary":"Call +19005550100."}')
    expect(call.done).toMatchObject([
      ['listed', 'acme', { phone: '+12025550123' }],
      ['callback', { customerPhone: '+12025550123' }],
    ])
    await call.end()
  })
})
