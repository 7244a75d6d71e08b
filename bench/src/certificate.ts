import { execFileSync } from 'node:child_process'
import { join } from 'node:path'

/** A certificate for 127.0.0.1 that its owner has signed, and its key: PEM files. */
export type Certificate = { keyFile: string; certFile: string }

/** Makes one in `folder`, good for two days. @throws Error when there is no `openssl`. */
export function makeCertificate(folder: string): Certificate {
  const files = { keyFile: join(folder, 'key.pem'), certFile: join(folder, 'cert.pem') }
  const key = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes', '-keyout', files.keyFile]
  const subject = ['-subj', '/CN=127.0.0.1', '-addext', 'subjectAltName=IP:127.0.0.1', '-days', '2']
  execFileSync('openssl', ['req', '-x509', ...key, ...subject, '-out', files.certFile], { stdio: 'ignore' })
  return files
}
