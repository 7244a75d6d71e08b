/** Value of each base64 character, by its byte. */
export const SIXBITS = new Uint8Array(256)
const ALPHABET = Buffer.from('ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/')
for (const [value, char] of ALPHABET.entries()) SIXBITS[char] = value
