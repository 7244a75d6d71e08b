import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { validate } from 'dockerfile-utils'
import { describe, expect, it } from 'vitest'
import { parse } from 'yaml'
import { readConfig, SETTINGS } from '../service/src/config.ts'

const ROOT = join(import.meta.dirname, '..')

type ComposeService = {
  image: string
  init?: boolean
  environment?: Record<string, string>
  stop_grace_period: string
  volumes?: string[]
  healthcheck: { test: unknown[] }
  depends_on?: Record<string, unknown>
}
type Compose = { services: Record<string, ComposeService>; volumes: Record<string, unknown> }

const read = (name: string): string => readFileSync(join(ROOT, name), 'utf8')
const dockerfile = read('Dockerfile')
const compose: Compose = parse(read('compose.yaml'))
const services = Object.entries(compose.services)

const environment = compose.services['service']?.environment ?? {}

const settingNames = Object.values(SETTINGS).map(({ name }) => name)

/** What the image settles, what a database makes meaningless, and the simulator, which the image does not have. */
const SETTLED = ['HOST', 'PORT', 'DATA_DIR', 'TENANTS_FILE', 'SIMULATOR']

describe('the Dockerfile', () => {
  it('has nothing that a linter objects to', () => {
    expect(validate(dockerfile)).toEqual([])
  })

  it('copies the manifest of every workspace, without which npm refuses the lockfile', () => {
    const { workspaces }: { workspaces: string[] } = JSON.parse(read('package.json'))
    for (const name of workspaces) expect(dockerfile).toContain(`COPY ${name}/package.json ${name}/\n`)
  })

  it('runs a program that is there, without a shell, and not as root', () => {
    const command: string[] = JSON.parse(/^CMD (.*)$/m.exec(dockerfile)?.[1] ?? '[]')
    expect(command[0]).toBe('node')
    expect(existsSync(join(ROOT, command.at(-1) ?? ''))).toBe(true)
    expect(dockerfile).toMatch(/^USER node$/m)
    // The image has no launcher: what that would give to Node stands here too.
    const { scripts } = JSON.parse(read('package.json'))
    const options = scripts.serve.split(' ').filter((word: string) => word.startsWith('--'))
    expect(command.slice(1, -1)).toEqual(options)
  })

  it('sets only variables that something reads', () => {
    const names = [...dockerfile.matchAll(/^(?:ENV| {3}) +([A-Z_]+)=/gm)].map(([, name]) => name)
    expect(names).toEqual(['NODE_ENV', 'HOST', 'PORT', 'DATA_DIR'])
    expect(settingNames).toEqual(expect.arrayContaining(['HOST', 'PORT', 'DATA_DIR']))
  })
})

describe('compose.yaml', () => {
  it.each(services)('pins the image of %s, and asks it for its health', (_, service) => {
    expect(service.image).toMatch(/^[a-z]+:\d[\w.-]*$/)
    const [kind, ...command] = service.healthcheck.test
    expect(kind).toBe('CMD')
    expect(command.filter((part) => typeof part !== 'string')).toEqual([])
  })

  it('passes on to the service every setting that it does not settle itself, and nothing else', () => {
    expect([...Object.keys(environment), ...SETTLED].toSorted()).toEqual(settingNames.toSorted())
    const { DATABASE_URL: _ours, ...passed } = environment
    for (const [name, value] of Object.entries(passed)) {
      expect(value).toMatch(new RegExp(`^\\$\\{${name}:(\\?[^}]+|-)\\}$`))
    }
  })

  it('gives live calls all of DRAIN_SECONDS before the service is killed, and two minutes to end', () => {
    const { drainSeconds } = readConfig({})
    expect(compose.services['service']?.stop_grace_period).toBe(`2m\${DRAIN_SECONDS:-${drainSeconds}}s`)
  })

  it('has a stop reach the service from its first moment on, which Node as process 1 does not hear', () => {
    expect(compose.services['service']?.init).toBe(true)
  })

  it.each(services)('has no secret of %s in it, and no start without the needed ones', (_, service) => {
    const secrets = Object.entries(service.environment ?? {}).filter(([name]) =>
      /KEY|PASSWORD|SECRET|TOKEN|_URL/.test(name),
    )
    for (const [name, value] of secrets) expect(value, name).toMatch(/\$\{[A-Z_\d]+:(\?[^}]+|-)\}/)
  })

  it('names every volume and service that it refers to', () => {
    const used = services.flatMap(([, { volumes = [] }]) => volumes.map((volume) => volume.split(':')[0]))
    expect(used.sort()).toEqual(Object.keys(compose.volumes).sort())
    const needed = services.flatMap(([, { depends_on: others = {} }]) => Object.keys(others))
    expect(Object.keys(compose.services)).toEqual(expect.arrayContaining(needed))
  })
})
