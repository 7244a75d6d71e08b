import { createServer as createHttpServer } from 'node:http'
import { createServer, type Server, type Socket } from 'node:net'
import { describe, expect, it, onTestFinished } from 'vitest'
import { until } from '../../../test/harness/wait.ts'
import { Connections, exemptConnection } from './connections.ts'
import { listen, RawConnection, testServer } from './http.fixture.ts'

/** A listening socket whose connections are admitted or not. */
async function admitting(maxPerAddress: number, isExempt = (_address: string) => false) {
  const connections = new Connections(maxPerAddress, isExempt)
  const admitted: Socket[] = []
  const server = createServer((socket) => {
    if (connections.admit(socket)) admitted.push(socket)
  })
  const port = await listenOn(server)
  onTestFinished(() => connections.destroyAll())
  return { connections, admitted, connect: () => new RawConnection(port) }
}

async function listenOn(server: Server): Promise<number> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => void server.close())
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('not a port')
  return address.port
}

describe('Connections', () => {
  it('refuses those of an address that has as many as it may have', async () => {
    const { admitted, connect } = await admitting(3)
    const five = Array.from({ length: 5 }, connect)
    await until(() => admitted.length === 3 && five.filter(({ isClosed }) => isClosed).length === 2, {
      what: 'two refusals',
    })
  })

  it('takes another when one has gone', async () => {
    const { admitted, connect } = await admitting(1)
    const first = connect()
    await until(() => admitted.length === 1, { what: 'the first' })
    await connect().closed()
    first.destroy()
    await until(() => admitted[0]?.closed, { what: 'the end of the first' })
    connect()
    await until(() => admitted.length === 2, { what: 'another' })
  })

  it('does not count those that were let in for good', async () => {
    const { admitted, connect } = await admitting(1)
    for (const count of [1, 2, 3]) {
      connect()
      const socket = await until(() => admitted[count - 1], { what: `connection ${count}` })
      exemptConnection(socket)
      exemptConnection(socket)
    }
  })

  it('does not count those of an exempt address', async () => {
    const { admitted, connect } = await admitting(1, (address) => address === '127.0.0.1')
    for (const _ of [1, 2, 3]) connect()
    await until(() => admitted.length === 3, { what: 'three connections' })
  })

  it('leaves those that it took in to be answered', async () => {
    const connections = new Connections(1, () => false)
    const server = createHttpServer((_request, response) => void response.end('fine'))
    server.prependListener('connection', (socket: Socket) => void connections.admit(socket))
    const port = await listenOn(server)
    const first = await new RawConnection(port).opened()
    await Promise.all([1, 2, 3].map(() => new RawConnection(port).write('GET / HTTP/1.1\r\nHost: x\r\n\r\n').closed()))
    expect((await first.write('GET / HTTP/1.1\r\nHost: x\r\n\r\n').answer()).status).toBe(200)
    connections.destroyAll()
  })

  it('can end all that are open', async () => {
    const { connections, admitted, connect } = await admitting(10)
    const open = [connect(), connect()]
    await until(() => admitted.length === 2, { what: 'two connections' })
    connections.destroyAll()
    await Promise.all(open.map((connection) => connection.closed()))
  })
})

describe('a server', () => {
  it('does not count the programs of its own machine', async () => {
    const { server } = testServer({ limits: { maxConnectionsPerAddress: 1 } })
    server.get('/', async () => ({ ok: true }))
    const port = await listen(server)
    const answers = Array.from({ length: 3 }, () =>
      new RawConnection(port).write('GET / HTTP/1.1\r\nHost: x\r\n\r\n').answer(),
    )
    expect((await Promise.all(answers)).map(({ status }) => status)).toEqual([200, 200, 200])
  })
})
