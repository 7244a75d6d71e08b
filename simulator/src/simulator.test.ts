import type { AddressInfo } from 'node:net'
import { createServer } from 'node:net'
import { describe, expect, it } from 'vitest'
import { startSimulator } from './simulator.ts'

const PLACE = { host: '127.0.0.1', port: 0 }
const ACCOUNT = { accountSid: `AC${'1'.repeat(32)}`, authToken: 'secret' }

describe('the simulator', () => {
  it('starts both providers, and stops them together', async () => {
    const simulator = await startSimulator({ carrier: { ...PLACE, ...ACCOUNT }, model: PLACE })
    const control = `${simulator.model.url.replace('ws', 'http').replace('/v1/realtime', '')}/control/sessions`
    expect(await (await fetch(control)).json()).toEqual({ sessions: [] })
    expect((await fetch(`${simulator.carrier.baseUrl}/2010-04-01/Accounts/x/Calls.json`)).status).toBe(401)
    await Promise.all([simulator.close(), simulator.close()])
    await expect(fetch(control)).rejects.toThrow('fetch failed')
    await expect(simulator.speech.say('Nobody hears this.')).rejects.toThrow('closed')
  })

  it('leaves nothing running when one of its ports is taken', async () => {
    const squatter = createServer().listen(0, PLACE.host)
    await new Promise((resolve) => squatter.once('listening', resolve))
    const taken = { host: PLACE.host, port: (squatter.address() as AddressInfo).port }
    const threads = () => process.getActiveResourcesInfo().filter((name) => name === 'MessagePort').length
    const before = threads()
    await expect(startSimulator({ carrier: { ...taken, ...ACCOUNT }, model: PLACE })).rejects.toThrow('EADDRINUSE')
    await expect(startSimulator({ carrier: { ...PLACE, ...ACCOUNT }, model: taken })).rejects.toThrow('EADDRINUSE')
    // The simulator of the test before may still be letting go of its own: fewer is no leak. So may these.
    await expect.poll(threads).toBeLessThanOrEqual(before)
    await new Promise((resolve) => squatter.close(resolve))
  })
})
