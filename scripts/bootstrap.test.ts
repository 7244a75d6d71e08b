import { existsSync, mkdirSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { runCommand } from './needs/command.ts'
import { AS_NODE_20, type Ending, run, start } from './testing/program.ts'
import { type TemporaryProject, temporaryProject } from './testing/temporary-project.ts'

/** Programs start slowly while other tests keep both cores busy. */
const WAIT_MS = 30_000
vi.setConfig({ testTimeout: 2 * WAIT_MS })

const MANIFEST = { name: 'sample', version: '1.0.0', private: true, workspaces: ['inner'] }
const INNER = { name: 'inner', version: '1.0.0' }
const LOCKFILE = {
  ...{ name: MANIFEST.name, version: MANIFEST.version, lockfileVersion: 3, requires: true },
  packages: { '': MANIFEST, inner: INNER, 'node_modules/inner': { resolved: 'inner', link: true } },
}
const INSTALLING = 'Installing dependencies…\n'

let project: TemporaryProject
beforeEach(() => {
  project = temporaryProject()
  project.write('package.json', JSON.stringify(MANIFEST))
  project.write('inner/package.json', JSON.stringify(INNER))
  project.write('package-lock.json', JSON.stringify(LOCKFILE))
})
afterEach(() => project.remove())

/** Without what npm told the test run, the npm in PATH is used. */
const environment = (extra: NodeJS.ProcessEnv = {}): NodeJS.ProcessEnv => {
  const kept = Object.entries(process.env).filter(([name]) => !/^npm_/i.test(name))
  return { ...Object.fromEntries(kept), ...extra }
}

const bootstrapArgs = (): string[] => [join(project.root, 'scripts', 'bootstrap.mjs')]

const bootstrap = (extra: NodeJS.ProcessEnv = {}): Promise<Ending> =>
  run(process.execPath, bootstrapArgs(), { env: environment(extra) })

const inProject = (...path: string[]): string => join(project.root, ...path)

describe('bootstrap, with npm', () => {
  it('installs what the lockfile says, once', async () => {
    expect(await bootstrap()).toMatchObject({ code: 0, stdout: INSTALLING, stderr: '' })
    expect(existsSync(inProject('node_modules', 'inner', 'package.json'))).toBe(true)
    expect(await bootstrap()).toMatchObject({ code: 0, stdout: '', stderr: '' })
  })

  it('installs again when a dependency changed or node_modules was taken away, not when a script changed', async () => {
    await bootstrap()
    project.write('package.json', JSON.stringify({ ...MANIFEST, scripts: { hello: 'true' } }))
    expect((await bootstrap()).stdout).toBe('')
    project.write('package-lock.json', JSON.stringify(LOCKFILE, null, 2))
    expect((await bootstrap()).stdout).toBe(INSTALLING)
    rmSync(inProject('node_modules'), { recursive: true })
    expect((await bootstrap()).stdout).toBe(INSTALLING)
  })

  it('takes nothing away that npm was told to put there: programs have enough of it, and tools are added', async () => {
    await runCommand('npm', ['ci', '--omit=dev', '--offline'], { cwd: project.root, env: environment() })
    project.write('node_modules/.cache/in-use', '')
    const programs = await run(process.execPath, [...bootstrapArgs(), '--programs'], { env: environment() })
    expect(programs).toMatchObject({ code: 0, stdout: '', stderr: '' })
    expect(await bootstrap()).toMatchObject({ code: 0, stdout: INSTALLING, stderr: '' })
    expect(existsSync(inProject('node_modules', '.cache', 'in-use'))).toBe(true)
    expect((await bootstrap()).stdout).toBe('')
  })

  it('installs anew for programs, too, when what npm has put there is of another lockfile', async () => {
    await runCommand('npm', ['ci', '--omit=dev', '--offline'], { cwd: project.root, env: environment() })
    project.write('node_modules/.package-lock.json', JSON.stringify({ packages: {} }))
    const programs = await run(process.execPath, [...bootstrapArgs(), '--programs'], { env: environment() })
    expect(programs.stdout).toBe(INSTALLING)
  })

  it('shows what npm said when it fails', async () => {
    project.write('package-lock.json', '{}')
    const ending = await bootstrap()
    expect(ending).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(/npm error.*npm ci ended with code 1\.\n$/s),
    })
  })

  it('lets two at once install one after the other', async () => {
    const endings = await Promise.all([bootstrap(), bootstrap()])
    expect(endings.map(({ code }) => code)).toEqual([0, 0])
    expect(endings.filter(({ stdout }) => stdout.includes(INSTALLING))).toHaveLength(1)
  })

  it('takes over the lock of a process that is gone', async () => {
    project.write('tmp/install.lock', '999999999 1\n')
    expect(await bootstrap()).toMatchObject({ code: 0, stdout: expect.stringContaining(INSTALLING) })
    expect(existsSync(inProject('tmp', 'install.lock'))).toBe(false)
  })
})

/** Stands in for npm, so that an install can be made to fail, to hang, or to bring a Node. */
const npmThat = (script: string): NodeJS.ProcessEnv => ({ npm_execpath: project.write('bin/npm-cli.js', script) })

describe('bootstrap, where no Node is packaged', () => {
  /** Makes a Node take the machine for another one. */
  const on = (platform: string, header = {}): string[] => [
    '--import',
    `data:text/javascript,Object.defineProperty(process,'platform',{value:'${platform}'});Object.defineProperty(process,'arch',{value:'arm64'});process.report.getReport=()=>(${JSON.stringify({ header })})`,
  ]
  const bootstrapOn = (nodeArgs: string[]): Promise<Ending> =>
    run(process.execPath, [...nodeArgs, ...bootstrapArgs()], { env: environment(npmThat('')) })

  it.each([
    { machine: 'macOS', nodeArgs: on('darwin') },
    { machine: 'Windows', nodeArgs: on('win32') },
    { machine: 'Linux without glibc', nodeArgs: on('linux') },
  ])('says on $machine which Node is needed, before it installs anything', async ({ nodeArgs }) => {
    const sentence = /^Parley needs Node 24\.9 or newer, .*; this is Node 20\.0\.0: install .*\n$/
    expect(await bootstrapOn([...AS_NODE_20, ...nodeArgs])).toMatchObject({
      ...{ code: 1, stdout: '', stderr: expect.stringMatching(sentence) },
    })
  })

  it('installs with a Node that is new enough, and on an old one where a new one comes along', async () => {
    expect(await bootstrapOn(on('darwin'))).toMatchObject({ code: 0, stdout: INSTALLING })
    rmSync(inProject('node_modules'), { recursive: true })
    const debian = on('linux', { glibcVersionRuntime: '2.36' })
    expect(await bootstrapOn([...AS_NODE_20, ...debian])).toMatchObject({ code: 0, stdout: INSTALLING })
  })
})

describe('bootstrap, when an install does not come to its end', () => {
  it('passes SIGTERM on, frees the lock and installs the next time', async () => {
    const slow = npmThat("require('fs').mkdirSync('node_modules'); setInterval(() => {}, 60000)")
    const program = start(process.execPath, bootstrapArgs(), { env: environment(slow) })
    await vi.waitFor(() => expect(existsSync(inProject('node_modules'))).toBe(true), WAIT_MS)
    program.child.kill('SIGTERM')
    expect(await program.ended).toMatchObject({ code: 143, stderr: 'Installing was interrupted.\n' })
    expect(existsSync(inProject('tmp', 'install.lock'))).toBe(false)
    expect((await bootstrap()).stdout).toBe(INSTALLING)
  })

  it('waits for an npm that outlived a killed bootstrap', async () => {
    const slow = npmThat(`const fs = require('fs'); fs.mkdirSync('node_modules')
      const timer = setInterval(() => { if (fs.existsSync('go')) { fs.rmSync('go'); clearInterval(timer) } }, 20)`)
    const killed = start(process.execPath, bootstrapArgs(), { env: environment(slow) })
    await vi.waitFor(() => expect(existsSync(inProject('node_modules'))).toBe(true), WAIT_MS)
    killed.child.kill('SIGKILL')
    const second = start(process.execPath, bootstrapArgs(), { env: environment() })
    await vi.waitFor(() => expect(second.printed()).toContain('Waiting'), WAIT_MS)
    expect(second.printed()).not.toContain(INSTALLING)
    writeFileSync(inProject('go'), '')
    expect(await second.ended).toMatchObject({ code: 0, stdout: expect.stringContaining(INSTALLING) })
    await killed.ended
  })
})

describe("bootstrap, and a packaged Node in npm's PATH", () => {
  const link = (): string => inProject('node_modules', '.bin', 'node')
  const npmThatBrings = (node: string): NodeJS.ProcessEnv => {
    mkdirSync(inProject('node_modules', '.bin'), { recursive: true })
    symlinkSync(node, link())
    return npmThat('')
  }
  const nodeThatSays = (version: string): string => {
    const script = `#!/bin/sh\n[ "$1" = --version ] && echo ${version} && exit\nexec '${process.execPath}' "$@"\n`
    return project.writeProgram(`host/${version}/node`, script)
  }

  it('keeps it on a host whose own Node is too old', async () => {
    const npm = npmThatBrings(process.execPath)
    await bootstrap({ ...npm, npm_node_execpath: nodeThatSays('v20.20.2') })
    expect(existsSync(link())).toBe(true)
  })

  it('takes it out when it does not run here', async () => {
    const npm = npmThatBrings(project.writeProgram('broken', '#!/bin/sh\nexit 127\n'))
    await bootstrap({ ...npm, npm_node_execpath: nodeThatSays('v20.20.2') })
    expect(existsSync(link())).toBe(false)
  })

  it("takes it out when the host's own Node is new enough", async () => {
    const npm = npmThatBrings(process.execPath)
    await bootstrap({ ...npm, npm_node_execpath: nodeThatSays('v26.1.0') })
    expect(existsSync(link())).toBe(false)
  })
})

describe('bootstrap --env', () => {
  const writeEnv = (): Promise<Ending> =>
    run(process.execPath, [...bootstrapArgs(), '--env'], { env: environment(npmThat('')) })
  const secrets = (): { encryptionKey: string; adminKey: string } => {
    const text = readFileSync(inProject('.env'), 'utf8')
    const settingOf = (name: string): string => new RegExp(`^${name}=(.*)$`, 'm').exec(text)?.[1] ?? ''
    return { encryptionKey: settingOf('ENCRYPTION_KEY'), adminKey: settingOf('ADMIN_API_KEY') }
  }

  it('writes random secrets that only the owner can read', async () => {
    await writeEnv()
    expect(Buffer.from(secrets().encryptionKey, 'base64')).toHaveLength(32)
    expect(secrets().adminKey).toMatch(/^ak_[\w-]{43}$/)
    expect(statSync(inProject('.env')).mode & 0o777).toBe(0o600)
  })

  it('lets a first start rehearse, because nothing is set for any provider', async () => {
    await writeEnv()
    expect(readFileSync(inProject('.env'), 'utf8')).toMatch(/^SIMULATOR=on$/m)
  })

  it('writes other secrets each time', async () => {
    await writeEnv()
    const first = secrets()
    rmSync(inProject('.env'))
    await writeEnv()
    expect(secrets().encryptionKey).not.toBe(first.encryptionKey)
    expect(secrets().adminKey).not.toBe(first.adminKey)
  })

  it('never overwrites a file that is there', async () => {
    project.write('.env', '')
    expect((await writeEnv()).code).toBe(0)
    expect(readFileSync(inProject('.env'), 'utf8')).toBe('')
  })

  it('writes nothing without the flag', async () => {
    await bootstrap(npmThat(''))
    expect(existsSync(inProject('.env'))).toBe(false)
  })
})
