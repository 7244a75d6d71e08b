import { makeNumberErasures } from './calls/erasing/erase-number.ts'
import { eraseRoutes } from './calls/erasing/erase-routes.ts'
import { makeEraseSession } from './calls/erasing/erase-session.ts'
import { makeErasingNumber } from './calls/erasing/erasing-number.ts'
import { makeErasingTenants } from './calls/erasing/erasing-tenants.ts'
import { numberErasureRoutes } from './calls/erasing/number-erasure-routes.ts'
import { makeRetention } from './calls/erasing/retention.ts'
import type { Deps } from './deps.ts'
import type { OneCall } from './records/ended-calls.ts'
import type { RecordingFiles } from './records/recording-files.ts'

/** Wires what erases: by request, by number, by age, and whole tenants. */
export function makeErasing(
  { database, clock, log, sealer }: Deps,
  {
    tenants,
    files,
    noteEndOf,
  }: Pick<Parameters<typeof makeErasingNumber>[0], 'tenants'> & {
    files: Pick<RecordingFiles, 'remove'>
    noteEndOf: (call: OneCall) => Promise<void>
  },
) {
  let isStopping = false
  const { db } = database
  const given = { db, clock, log, isStopping: () => isStopping }
  const erase = makeEraseSession({ db, clock, log, files, noteEndOf })
  const retention = makeRetention({ ...given, erase, files })
  const erasing = makeErasingNumber({ ...given, tenants, sealer, erase })
  const ofTenants = makeErasingTenants(given)
  const numbers = makeNumberErasures({ db, clock, sealer, erasing })
  return {
    tenantRoutes: [eraseRoutes(erase), numberErasureRoutes(numbers)],
    ofTenants,
    scheduled: [
      { name: 'deleted tenants', hasEndpoint: false, run: () => ofTenants.sweep() },
      { name: 'numbers to erase', hasEndpoint: false, run: () => erasing.sweep() },
      { name: 'old sessions', hasEndpoint: false, run: () => retention.eraseOld() },
      { name: 'old calls without a session', hasEndpoint: false, run: () => retention.eraseUnplaced() },
      { name: 'old simulations', hasEndpoint: false, run: () => retention.deleteOldSimulations() },
      { name: 'erased audio', hasEndpoint: false, run: () => retention.removeAudio() },
      { name: 'delivered rows', hasEndpoint: false, run: () => retention.purgeDelivered() },
    ],
    /** Begins nothing more. */
    close() {
      isStopping = true
    },
  }
}
