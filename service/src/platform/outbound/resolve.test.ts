import { createHook } from 'node:async_hooks'
import { createSocket, type Socket } from 'node:dgram'
import { once } from 'node:events'
import { rm, utimes, writeFile } from 'node:fs/promises'
import { hostname } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { scratchFolder } from '../../../test/harness/scratch.ts'
import { makeResolve } from './resolve.ts'

const NO_ERROR = 0
const NO_SUCH_NAME = 3
const TYPE_A = 1

type Reply = { code: number; address?: string }

/** A name server on this machine that answers each name as it is told to. */
async function nameServer(answer: (name: string) => Reply): Promise<{ servers: string[]; asked: string[] }> {
  const socket: Socket = createSocket('udp4')
  const asked: string[] = []
  socket.on('message', (query, from) => {
    const { name, end } = questionOf(query)
    const isAboutV4 = query.readUInt16BE(end - 4) === TYPE_A
    asked.push(name)
    const { code, address } = answer(name)
    const record = address && isAboutV4 ? recordOf(address) : null
    const head = Buffer.from(query.subarray(0, 12))
    head.writeUInt16BE(0x8180 | code, 2)
    head.writeUInt16BE(record ? 1 : 0, 6)
    head.fill(0, 8)
    socket.send(Buffer.concat([head, query.subarray(12, end), record ?? Buffer.alloc(0)]), from.port, from.address)
  })
  socket.bind(0, '127.0.0.1')
  await once(socket, 'listening')
  onTestFinished(() => void socket.close())
  return { servers: [`127.0.0.1:${socket.address().port}`], asked }
}

function questionOf(query: Buffer): { name: string; end: number } {
  const labels: string[] = []
  let at = 12
  for (let length = query[at] ?? 0; length > 0; length = query[at] ?? 0) {
    labels.push(query.toString('ascii', at + 1, at + 1 + length))
    at += 1 + length
  }
  return { name: labels.join('.'), end: at + 5 }
}

/** Of the name that was asked for, for a minute. */
function recordOf(address: string): Buffer {
  return Buffer.from([0xc0, 12, 0, TYPE_A, 0, 1, 0, 0, 0, 60, 0, 4, ...address.split('.').map(Number)])
}

async function hostsFile(text: string): Promise<string> {
  const folder = await scratchFolder()
  onTestFinished(() => rm(folder, { recursive: true }))
  const path = join(folder, 'hosts')
  await writeFile(path, text)
  return path
}

/** What kinds of work were begun meanwhile. */
async function begunBy(work: () => Promise<unknown>): Promise<string[]> {
  const begun: string[] = []
  const hook = createHook({ init: (_id, type) => void begun.push(type) }).enable()
  await work()
  hook.disable()
  return begun
}

describe('the addresses of a name', () => {
  it('are those that the name servers say', async () => {
    const { servers } = await nameServer(() => ({ code: NO_ERROR, address: '192.0.2.7' }))
    expect(await makeResolve({ servers, hostsFile: await hostsFile('') })('hooks.example.com')).toEqual(['192.0.2.7'])
  })

  it.each([
    ['has no address', NO_ERROR],
    ['is not there', NO_SUCH_NAME],
  ])('take no thread that files are written by when it %s', async (_what, code) => {
    const { servers, asked } = await nameServer(() => ({ code }))
    const resolve = makeResolve({ servers, hostsFile: await hostsFile('127.0.0.1 localhost') })
    const begun = await begunBy(() => expect(resolve('silent.example.com')).rejects.toThrow(/ENODATA|ENOTFOUND/))
    expect(asked).toContain('silent.example.com')
    expect(begun).toContain('QUERYWRAP')
    expect(begun).not.toContain('GETADDRINFOREQWRAP')
  })

  it('are found in the hosts file where the name servers know none, and nowhere else', async () => {
    const { servers } = await nameServer(() => ({ code: NO_SUCH_NAME }))
    const path = await hostsFile(
      '# ours\n10.0.0.5\tTools.example.com tools # both\n\nfd00::5 tools\nfe80::1%lo0 tools\nnone tools\n',
    )
    const resolve = makeResolve({ servers, hostsFile: path })
    expect(await resolve('tools')).toEqual(['10.0.0.5', 'fd00::5'])
    expect(await resolve('tools.EXAMPLE.com')).toEqual(['10.0.0.5'])
    await expect(resolve('both')).rejects.toThrow(/ENOTFOUND/)
    // The machine knows its own name by other files, too.
    await expect(resolve(hostname())).rejects.toThrow(/ENOTFOUND/)
  })

  it('are read again from the hosts file once it was changed', async () => {
    const { servers } = await nameServer(() => ({ code: NO_SUCH_NAME }))
    const path = await hostsFile('10.0.0.5 tools')
    const resolve = makeResolve({ servers, hostsFile: path })
    expect(await resolve('tools')).toEqual(['10.0.0.5'])
    await writeFile(path, '10.0.0.6 tools')
    await utimes(path, 1, 1)
    expect(await resolve('tools')).toEqual(['10.0.0.6'])
  })

  it('are those of the machine itself for localhost, by whatever file', async () => {
    const { servers } = await nameServer(() => ({ code: NO_SUCH_NAME }))
    for (const file of ['/etc/hosts', '/nowhere/hosts']) {
      expect(await makeResolve({ servers, hostsFile: file })('localhost')).toContain('127.0.0.1')
    }
  })
})
