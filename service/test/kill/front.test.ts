import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { type Front, startFront } from './front.ts'

type Node = { server: Server; port: number; sockets: Socket[] }

/** A node that says its name to whoever connects. */
async function startNode(name: string): Promise<Node> {
  const sockets: Socket[] = []
  const server = createServer((socket) => {
    sockets.push(socket.on('error', () => {}))
    socket.write(name)
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  return { server, port: (server.address() as AddressInfo).port, sockets }
}

describe('the front', () => {
  let front: Front
  let nodes: Node[]
  let targets: { host: string; port: number }[]
  const clients: Socket[] = []

  beforeEach(async () => {
    front = await startFront()
    nodes = [await startNode('a'), await startNode('b')]
    targets = nodes.map(({ port }) => ({ host: '127.0.0.1', port }))
    for (const target of targets) front.add(target)
  })
  afterEach(async () => {
    for (const socket of [...clients, ...nodes.flatMap(({ sockets }) => sockets)]) socket.destroy()
    for (const { server } of nodes) server.close()
    await front.close()
  })

  function open(): Socket {
    const client = connect({ host: '127.0.0.1', port: Number(new URL(front.url).port) })
    clients.push(client)
    return client.on('error', () => {})
  }

  async function nodeOf(client: Socket): Promise<string> {
    const [data] = (await once(client, 'data')) as [Buffer]
    return data.toString()
  }

  it('gives connections to the node that has the fewest', async () => {
    const names = []
    for (let i = 0; i < 4; i++) names.push(await nodeOf(open()))
    expect(names.toSorted()).toEqual(['a', 'a', 'b', 'b'])
  })

  it('skips a node that is gone', async () => {
    nodes[0]?.server.close()
    for (let i = 0; i < 3; i++) expect(await nodeOf(open())).toBe('b')
  })

  it('leaves a node alone that was taken out', async () => {
    const [first] = targets
    if (first) front.remove(first)
    for (let i = 0; i < 3; i++) expect(await nodeOf(open())).toBe('b')
  })

  it('resets the connection when no node is left', async () => {
    for (const { server } of nodes) server.close()
    const client = open()
    const [error] = (await once(client, 'error')) as [NodeJS.ErrnoException]
    expect(error.code).toBe('ECONNRESET')
  })

  it('passes on that a node closed, and that it reset', async () => {
    for (const [end, expected] of [
      [(socket: Socket) => socket.end(), null],
      [(socket: Socket) => socket.resetAndDestroy(), 'ECONNRESET'],
    ] as const) {
      const client = open()
      const name = await nodeOf(client)
      const node = nodes[name === 'a' ? 0 : 1]
      let code: string | null = null
      client.on('error', (error: NodeJS.ErrnoException) => {
        code = error.code ?? null
      })
      const closed = new Promise((resolve) => client.on('close', resolve))
      const socket = node?.sockets.at(-1)
      if (socket) end(socket)
      await closed
      expect(code).toBe(expected)
    }
  })
})
