import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { validate } from 'dockerfile-utils'
import { describe, expect, it } from 'vitest'
import { parse } from 'yaml'

const ROOT = join(import.meta.dirname, '..')

type ComposeService = {
  image: string
  environment?: Record<string, string>
  volumes?: string[]
  healthcheck: { test: unknown[] }
  depends_on?: Record<string, unknown>
}
type Compose = { services: Record<string, ComposeService>; volumes: Record<string, unknown> }

const read = (name: string): string => readFileSync(join(ROOT, name), 'utf8')
const dockerfile = read('Dockerfile')
const compose: Compose = parse(read('compose.yaml'))
const services = Object.entries(compose.services)

/** Every setting that the service reads, and those of the image that run it. */
const SETTINGS = [...read('.env.example').matchAll(/^([A-Z_]+)=/gm)].map(([, name]) => name ?? '')

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
    expect(SETTINGS).toEqual(expect.arrayContaining(['HOST', 'PORT', 'DATA_DIR']))
  })
})

describe('compose.yaml', () => {
  it.each(services)('pins the image of %s, and asks it for its health', (_, service) => {
    expect(service.image).toMatch(/^[a-z]+:\d[\w.-]*$/)
    const [kind, ...command] = service.healthcheck.test
    expect(kind).toBe('CMD')
    expect(command.filter((part) => typeof part !== 'string')).toEqual([])
  })

  it('gives the service only settings that it reads', () => {
    expect(SETTINGS).toEqual(expect.arrayContaining(Object.keys(compose.services['service']?.environment ?? {})))
  })

  it.each(services)('has no secret of %s in it, and no start without the needed ones', (_, service) => {
    const secrets = Object.entries(service.environment ?? {}).filter(([name]) =>
      /KEY|PASSWORD|SECRET|TOKEN|_URL/.test(name),
    )
    for (const [name, value] of secrets) expect(value, name).toMatch(/\$\{[A-Z_]+:(\?[^}]+|-)\}/)
  })

  it('names every volume and service that it refers to', () => {
    const used = services.flatMap(([, { volumes = [] }]) => volumes.map((volume) => volume.split(':')[0]))
    expect(used.sort()).toEqual(Object.keys(compose.volumes).sort())
    const needed = services.flatMap(([, { depends_on: others = {} }]) => Object.keys(others))
    expect(Object.keys(compose.services)).toEqual(expect.arrayContaining(needed))
  })
})
