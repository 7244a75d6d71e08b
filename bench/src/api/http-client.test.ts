import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { askWithoutPause, HttpClient } from './http-client.ts'

const seen: { url: string | undefined; authorization: string | undefined; port: number | undefined }[] = []
const server = createServer((request, response) => {
  const { url, headers, socket } = request
  seen.push({ url, authorization: headers.authorization, port: socket.remotePort })
  response.writeHead(url === '/none' ? 404 : 200).end('an answer')
})
let address = ''

beforeAll(async () => {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  address = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
})
afterAll(() => new Promise((resolve) => server.close(resolve)))

describe('a client that measures', () => {
  it('asks with its token, keeps its connection, and tells how long the answer took', async () => {
    const client = new HttpClient(address, { connections: 1, token: 'secret' })
    const first = await client.get('/a')
    await client.get('/b')
    client.close()
    expect(first).toMatchObject({ text: 'an answer' })
    expect(first.ms).toBeGreaterThan(0)
    expect(seen.slice(-2).map(({ url, authorization }) => [url, authorization])).toEqual([
      ['/a', 'Bearer secret'],
      ['/b', 'Bearer secret'],
    ])
    expect(new Set(seen.slice(-2).map(({ port }) => port)).size).toBe(1)
  })

  it('takes nothing but 200 for an answer', async () => {
    const client = new HttpClient(address, { connections: 1 })
    await expect(client.get('/none')).rejects.toThrow('/none was answered with 404: an answer')
    client.close()
  })

  it('asks as often at once as it is told to, and counts the answers', async () => {
    let [now, most, asked] = [0, 0, 0]
    const answers = await askWithoutPause(
      async () => {
        now += 1
        asked += 1
        most = Math.max(most, now)
        await new Promise(setImmediate)
        now -= 1
      },
      { width: 3, ms: 20 },
    )
    expect(most).toBe(3)
    expect(answers).toBe(asked)
  })
})
