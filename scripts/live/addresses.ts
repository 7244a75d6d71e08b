import { numberAddresses } from '../../service/src/calls/number-addresses.ts'
import { localAddress, publicAddress, publicAddressFault } from '../../service/src/public-address.ts'

export { localAddress, numberAddresses, publicAddress, publicAddressFault }

/** Where the carrier opens the stream of a call's audio. */
export function streamAddress(base: string): string {
  return `${base.replace(/^http/, 'ws')}/media-stream`
}
