import type { LoadPlan } from './load.ts'
import type { Options } from './options.ts'

/** A set of rounds whose results stand in one table. Durations in seconds. */
export type Suite = Omit<LoadPlan, 'entrance' | 'calls' | 'firstTurnMs'> & {
  name: 'asked' | 'turns' | 'tls' | 'overload' | 'latency'
  title: string
  systems: readonly string[]
  calls: readonly number[]
  repeats: number
  tls: boolean
}

/** Every system there is, in the order in which they take turns. */
const SYSTEM_NAMES: readonly string[] = ['raw-net', 'raw-ws', 'parley', 'parley-embedded', 'parley-default']

const RELAY_NAMES = ['raw-net', 'raw-ws']

/** What the command line asks for, when it is not `--check`. @throws Error when it names a system that there is not. */
export function askedSuite(options: Options): Suite {
  const { seconds, warmupSeconds, rampPerSecond, churnPerSecond, calls, repeats, tls } = options
  const systems = options.relayOnly ? RELAY_NAMES : (options.systems ?? SYSTEM_NAMES)
  const unknown = systems.find((name) => !SYSTEM_NAMES.includes(name))
  if (unknown !== undefined) throw new Error(`--systems ${unknown}: there are ${SYSTEM_NAMES.join(', ')}`)
  const plan = { seconds, warmupSeconds, rampPerSecond, churnPerSecond, callSeconds: 0 }
  return { name: 'asked', title: 'Measured', systems, calls, repeats, tls, ...plan }
}

/** What `--latency` runs: a model that takes 300 ms to its first byte, and agents whose first words are a clip. */
export function latencySuite({ calls, repeats, seconds }: Options): Suite {
  return {
    ...STEADY,
    ...{ calls, repeats, seconds, tls: false },
    name: 'latency',
    title: 'A model with 300 ms to its first byte, greetings as clips, calls ending and starting',
    systems: ['raw-ws', 'parley-clips', 'parley-clips-default'],
    // Each start is one first word to be measured.
    churnPerSecond: 3,
    thinkMs: 300,
  }
}

const STEADY = { warmupSeconds: 10, rampPerSecond: 100, churnPerSecond: 1, callSeconds: 0 }

/** What `--check` runs. */
export const CHECK_SUITES: readonly Suite[] = [
  {
    ...STEADY,
    name: 'turns',
    title: '100 calls in turns, one ends and one starts each second',
    systems: SYSTEM_NAMES,
    calls: [100],
    seconds: 20,
    repeats: 3,
    tls: false,
  },
  {
    ...STEADY,
    name: 'tls',
    title: 'The same with TLS between the system under test and its model',
    systems: ['raw-net', 'raw-ws', 'parley'],
    calls: [100, 300],
    seconds: 15,
    repeats: 2,
    tls: true,
  },
  {
    name: 'overload',
    title: '300 calls, and 25 more a second that would last a minute each: thrice what one core carries',
    systems: ['parley'],
    calls: [300],
    seconds: 20,
    warmupSeconds: 30,
    rampPerSecond: 100,
    churnPerSecond: 25,
    callSeconds: 60,
    repeats: 1,
    tls: false,
  },
]
