import { once } from 'node:events'
import { createServer } from 'node:net'
import { describe, expect, it } from 'vitest'
import { freePort } from './free-port.ts'

describe('a free port', () => {
  it('can be listened at, and is none that a system gives away by itself', async () => {
    const port = await freePort()
    expect([port >= 16_384, port < 32_768]).toEqual([true, true])
    const server = createServer().listen(port, '127.0.0.1')
    await once(server, 'listening')
    server.close()
    await once(server, 'close')
  })
})
