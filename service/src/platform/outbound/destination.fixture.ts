// Addresses that must not be reached, in all the ways in which they can be written.

/** IPv4 addresses that are private, or that nobody should be sent to. */
const INNER_V4 = [
  ...['0.0.0.0', '0.0.0.1', '0.255.255.255', '10.0.0.1', '10.255.255.255', '100.64.0.1', '100.100.100.200'],
  ...['100.127.255.255', '127.0.0.1', '127.0.0.53', '127.1.2.3', '127.255.255.254', '168.63.129.16', '169.254.0.1'],
  ...['169.254.169.254', '169.254.170.2', '172.16.0.1', '172.17.0.1', '172.31.255.255', '192.0.0.1', '192.0.0.192'],
  ...['192.0.2.1', '192.88.99.1', '192.168.0.1', '192.168.255.255', '198.18.0.1', '198.19.255.255', '198.51.100.7'],
  ...['203.0.113.9', '224.0.0.1', '239.255.255.250', '240.0.0.1', '255.255.255.255'],
]

function octets(address: string): number[] {
  return address.split('.').map(Number)
}

function dword(address: string): number {
  return octets(address).reduce((sum, octet) => sum * 256 + octet, 0)
}

function groups(address: string): string {
  const [a = 0, b = 0, c = 0, d = 0] = octets(address)
  return `${(a * 256 + b).toString(16)}:${(c * 256 + d).toString(16)}`
}

/** What browsers, libraries and name servers read as the same address. */
function spellings(address: string): string[] {
  const [a = 0, b = 0, c = 0, d = 0] = octets(address)
  const hex = (n: number) => `0x${n.toString(16)}`
  const octal = (n: number) => `0${n.toString(8)}`
  return [
    address,
    `${address}.`,
    String(dword(address)),
    hex(dword(address)),
    `0x0000${dword(address).toString(16).padStart(8, '0')}`,
    octal(dword(address)),
    [a, b, c, d].map(octal).join('.'),
    [a, b, c, d].map(hex).join('.'),
    `${a}.${b}.${c * 256 + d}`,
    `${a}.${(b * 256 + c) * 256 + d}`,
    `${octal(a)}.${hex(b)}.${c}.${d}`,
    address.replaceAll('.', '。'),
    address.replace(/\d/g, (digit) => String.fromCodePoint(0xff10 + Number(digit))),
    address.replace(/\d/, (digit) => `%3${digit}`),
    `[::ffff:${address}]`,
    `[::ffff:${groups(address)}]`,
    `[0:0:0:0:0:FFFF:${groups(address).toUpperCase()}]`,
    `[::${address}]`,
    `[64:ff9b::${address}]`,
    `[64:ff9b:1::${groups(address)}]`,
    `[2002:${groups(address)}::1]`,
    `[2001:0:${groups(address)}::1]`,
  ]
}

const INNER_V6 = [
  ...[
    '[::]',
    '[::1]',
    '[0:0:0:0:0:0:0:1]',
    '[0000:0000:0000:0000:0000:0000:0000:0001]',
    '[::2]',
    '[100::1]',
    '[fc00::1]',
  ],
  ...[
    '[fd00::1]',
    '[fd12:3456:789a::1]',
    '[fd00:ec2::254]',
    '[fd20:ce::254]',
    '[fdff:ffff::1]',
    '[fe80::1]',
    '[febf::1]',
  ],
  ...['[fec0::1]', '[ff02::1]', '[ff0e::1]', '[2001::1]', '[2001:2::1]', '[2001:10::1]', '[2001:db8::1]', '[2002::1]'],
  ...['[3fff::1]', '[5f00::1]', '[4000::1]', '[8000::1]', '[1::1]', '[2620:4f:8000::1]'],
]

/** Names that stand for this machine, its network or its cloud. */
const INNER_NAMES = [
  ...[
    'localhost',
    'LOCALHOST',
    'localhost.',
    'a.localhost',
    'a.b.localhost.',
    'localhost.localdomain',
    'printer.local',
  ],
  ...[
    'db.internal',
    'metadata.google.internal',
    'METADATA.google.internal.',
    'api.svc.cluster.local',
    'router.home.arpa',
  ],
  ...[
    'ｌｏｃａｌｈｏｓｔ',
    'loc%61lhost',
    '%6c%6f%63%61%6c%68%6f%73%74',
    'ⓛⓞⓒⓐⓛⓗⓞⓢⓣ',
    'localhost%2e',
    'lOcAlHoSt.:8080',
  ],
]

/** Names of others' that lead to inner addresses, as their owners can have them do. */
const NAMES_OF_OTHERS: Record<string, string[]> = {
  'loopback.example.com': ['127.0.0.1'],
  'loopback6.example.com': ['::1'],
  'metadata.example.com': ['169.254.169.254'],
  'private.example.com': ['10.1.2.3'],
  'mixed.example.com': ['93.184.215.14', '10.1.2.3'],
  'mixed6.example.com': ['93.184.215.14', 'fd00::1'],
  'mapped.example.com': ['::ffff:127.0.0.1'],
  'zone.example.com': ['fe80::1%eth0'],
  'unspecified.example.com': ['0.0.0.0'],
  'xn--bcher-kva.example.com': ['192.168.1.1'],
  'bad.example.com': ['not an address'],
}

const NO_WEB_ADDRESSES = [
  ...['', ' ', 'hooks.example.com', '//hooks.example.com/', 'https://', 'http://?', 'https://#', 'http://:80/'],
  ...['ftp://hooks.example.com/', 'file:///etc/passwd', 'gopher://127.0.0.1:6379/_INFO', 'ws://hooks.example.com/'],
  ...[
    'data:text/plain,hello',
    'javascript:alert(1)',
    'dict://127.0.0.1:11211/',
    'unix:/var/run/docker.sock',
    'blob:https://a.example/1',
  ],
  ...[
    'http+unix://%2Fvar%2Frun%2Fdocker.sock/',
    'ldap://hooks.example.com/',
    'https://[::1',
    'https://[fe80::1%25eth0]/',
  ],
  ...[
    'https://[::ffff:127.0.0.1%25lo]/',
    'https://256.256.256.256/',
    'https://1.2.3.4.5/',
    'https://0x1.0x2.0x3.0x4.0x5/',
  ],
  ...['https://a b.example.com/', 'https://exa<mple.com/', 'https://example.com:99999/', 'https://example.com:http/'],
]

const WITH_USERS = [
  ...[
    'https://user@hooks.example.com/',
    'https://user:password@hooks.example.com/',
    'https://:password@hooks.example.com/',
  ],
  ...[
    'https://hooks.example.com@127.0.0.1/',
    'https://127.0.0.1@hooks.example.com/',
    'https://a%40b@hooks.example.com/',
  ],
  ...['https://hooks.example.com:443@[::1]/', 'http://10.0.0.1:80@hooks.example.com/'],
]

/** Every address that must be refused when private networks are not allowed. */
export const FORBIDDEN: string[] = [
  ...INNER_V4.flatMap(spellings).map((host) => `https://${host}/hook`),
  ...INNER_V6.map((host) => `http://${host}:8080/hook`),
  ...INNER_NAMES.map((host) => `https://${host}/hook`),
  ...Object.keys(NAMES_OF_OTHERS).map((host) => `https://${host}/hook`),
  ...['https://bücher.example.com/', 'https://BÜCHER.example.com./', 'https://LOOPBACK.example.com:8443/'],
  ...['https:/127.0.0.1/', 'https:127.0.0.1/', 'https:\\\\127.0.0.1\\hook', 'https://127.0.0.1\\@hooks.example.com/'],
  ...[' https://127.0.0.1/', 'ht\ttps://127.0.0.1/', 'https://127.0.\n0.1/', 'https://127.0.0.1#@hooks.example.com/'],
  ...[
    'https://127.0.0.1?@hooks.example.com/',
    'https://127.0.0.1:443/..//',
    'HTTPS://127.0.0.1/',
    'https://127.0.0.1:0/',
  ],
  ...NO_WEB_ADDRESSES,
  ...WITH_USERS,
]

/** Addresses that may be asked, and what they are connected to. */
export const ALLOWED: [url: string, addresses: string[]][] = [
  ['https://hooks.example.com/hook?a=b', ['93.184.215.14']],
  ['http://hooks.example.com:8080/', ['93.184.215.14']],
  ['https://hooks.example.com./', ['93.184.215.14']],
  ['https://HOOKS.example.com/', ['93.184.215.14']],
  ['https://both.example.com/', ['93.184.215.14', '2606:2800:220:1::1']],
  ['https://93.184.215.14/', ['93.184.215.14']],
  ['https://0x5db8d70e/', ['93.184.215.14']],
  ['https://[2606:2800:220:1::1]/', ['2606:2800:220:1::1']],
  ['https://9.255.255.255/', ['9.255.255.255']],
  ['https://11.0.0.0/', ['11.0.0.0']],
  ['https://100.63.255.255/', ['100.63.255.255']],
  ['https://100.128.0.0/', ['100.128.0.0']],
  ['https://126.255.255.255/', ['126.255.255.255']],
  ['https://128.0.0.0/', ['128.0.0.0']],
  ['https://169.253.255.255/', ['169.253.255.255']],
  ['https://172.15.255.255/', ['172.15.255.255']],
  ['https://172.32.0.0/', ['172.32.0.0']],
  ['https://192.167.255.255/', ['192.167.255.255']],
  ['https://223.255.255.255/', ['223.255.255.255']],
  ['https://[2a00:1450::1]/', ['2a00:1450::1']],
]

/** What the names of the tests lead to. */
export async function resolveForTests(host: string): Promise<string[]> {
  const known: Record<string, string[]> = {
    ...NAMES_OF_OTHERS,
    'hooks.example.com': ['93.184.215.14'],
    'both.example.com': ['93.184.215.14', '2606:2800:220:1::1'],
  }
  const found = known[host]
  if (!found) throw new Error(`nobody knows ${host}`)
  return found
}
