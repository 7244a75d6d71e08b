import { describe, expect, it } from 'vitest'
import { parseCores, parseMachine, parseStat, processUse } from './proc.ts'

describe('parseStat', () => {
  it('adds user and system time, even when the name holds brackets and spaces', () => {
    const line = '42 (a) b (c)) S 1 42 42 0 -1 4194560 1 2 3 4 150 25 7 8 20 0 11 0 100 200 300'
    expect(parseStat(line)).toEqual({ name: 'a) b (c)', cpuMs: 1_750 })
  })
})

describe('parseMachine', () => {
  it('adds what is neither idle nor stolen, and keeps the stolen apart', () => {
    expect(parseMachine('cpu  1 2 4 1000 1000 8 16 3 9 9\ncpu0 0 0 0 0')).toEqual({ busyMs: 310, stealMs: 30 })
  })
})

describe('parseCores', () => {
  it.each([
    ['0-1', [0, 1]],
    ['3', [3]],
    ['0-2,5,8-9', [0, 1, 2, 5, 8, 9]],
    ['', []],
  ])('reads %j', (list, cores) => expect(parseCores(list)).toEqual(cores))
})

describe.runIf(process.platform === 'linux')('processUse', () => {
  it('reads a live process and its threads', () => {
    const use = processUse(process.pid)
    expect(use.cpuMs).toBeGreaterThan(0)
    expect(use.rssKb).toBeGreaterThan(10_000)
    expect(use.threads.map((thread) => thread.id)).toContain(process.pid)
  })
})
