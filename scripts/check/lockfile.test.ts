import { describe, expect, it } from 'vitest'
import { completeLockfile, missingPackages } from './lockfile.ts'

const TOOL = {
  version: '2.0.0',
  dev: true,
  optionalDependencies: { 'tool-linux-x64-musl': '2.0.0', 'tool-darwin-arm64': '2.0.0', fsevents: '~2.3.3' },
}
const OLD_TOOL = { version: '1.0.0', optionalDependencies: { 'tool-darwin-arm64': '1.0.0' } }

describe('a lockfile', () => {
  it('lacks the packages of platforms that npm did not see, told by their names', () => {
    const packages = { '': {}, 'node_modules/tool': TOOL, 'node_modules/fsevents': { version: '2.3.3' } }
    expect(missingPackages({ packages })).toEqual({
      'node_modules/tool-linux-x64-musl': {
        ...{ version: '2.0.0', dev: true, optional: true },
        ...{ cpu: ['x64'], libc: ['musl'], os: ['linux'] },
      },
      'node_modules/tool-darwin-arm64': {
        ...{ version: '2.0.0', dev: true, optional: true, cpu: ['arm64'], os: ['darwin'] },
      },
    })
  })

  it('gets a second version further in, as npm would place it', () => {
    const packages = { 'node_modules/a/node_modules/tool': OLD_TOOL, 'node_modules/tool': TOOL }
    expect(Object.keys(missingPackages({ packages })).sort()).toEqual([
      'node_modules/a/node_modules/tool/node_modules/tool-darwin-arm64',
      'node_modules/tool-darwin-arm64',
      'node_modules/tool-linux-x64-musl',
    ])
  })

  it('that was completed lacks nothing, is in order, and keeps what it said', () => {
    const packages = { '': {}, 'node_modules/zebra': { version: '1.0.0' }, 'node_modules/tool': TOOL }
    const complete = completeLockfile({ name: 'sample', packages })
    expect(missingPackages(complete)).toEqual({})
    expect(complete).toMatchObject({ name: 'sample', packages })
    const places = Object.keys(complete.packages)
    expect(places).toEqual([...places].sort())
  })

  it('lacks nothing when its versions are found beside or above', () => {
    const packages = {
      'node_modules/a/node_modules/tool': OLD_TOOL,
      'node_modules/a/node_modules/tool-darwin-arm64': { version: '1.0.0' },
    }
    expect(missingPackages({ packages })).toEqual({})
  })
})
