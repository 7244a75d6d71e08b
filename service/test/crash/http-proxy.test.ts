import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { type HttpProxy, startHttpProxy } from './http-proxy.ts'
import { KillTrap, type Moment } from './moments.ts'

describe('the proxy before an HTTP server', () => {
  let server: Server
  let proxy: HttpProxy
  let trap: KillTrap
  let served: string[]

  beforeEach(async () => {
    served = []
    server = createServer((request, response) => {
      served.push(request.url ?? '')
      response.writeHead(201, { 'x-of-the-server': 'yes' }).end('done')
    })
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    trap = new KillTrap()
    proxy = await startHttpProxy('carrier', trap)
    proxy.pointAt(`http://127.0.0.1:${(server.address() as AddressInfo).port}`)
  })
  afterEach(async () => {
    await proxy.close()
    server.closeAllConnections()
    await new Promise((resolve) => server.close(resolve))
  })

  const post = (body: string) => fetch(`${proxy.url}/a?b=1`, { method: 'POST', body })

  it('passes a request and its answer on, and keeps the request', async () => {
    const answer = await post('To=1')
    expect([answer.status, answer.headers.get('x-of-the-server'), await answer.text()]).toEqual([201, 'yes', 'done'])
    expect(proxy.asked).toEqual([{ method: 'POST', path: '/a?b=1', body: 'To=1' }])
  })

  it.each([
    ['before', []],
    ['after', ['/a?b=1']],
  ] as const)('cuts the connection when the trap shuts %s it is done', async (when, expected) => {
    const isWanted = (moment: Moment) => moment.where === 'carrier' && moment.when === when
    const sprung = trap.arm(isWanted, { times: 1, kill: () => {} })
    await expect(post('To=1')).rejects.toThrow()
    await sprung
    expect(served).toEqual(expected)
    expect((await post('To=2')).status).toBe(201)
  })

  it('cuts the connection when nobody listens behind it', async () => {
    proxy.pointAt('http://127.0.0.1:1')
    await expect(post('To=1')).rejects.toThrow()
  })
})
