/** Where anybody gets an address: it tells nothing of a company. */
const FREE_MAIL = new Set([
  ...[
    'gmail.com',
    'googlemail.com',
    'yahoo.com',
    'ymail.com',
    'rocketmail.com',
    'hotmail.com',
    'outlook.com',
    'live.com',
  ],
  ...[
    'msn.com',
    'passport.com',
    'icloud.com',
    'me.com',
    'mac.com',
    'aol.com',
    'aim.com',
    'proton.me',
    'protonmail.com',
  ],
  ...[
    'pm.me',
    'tutanota.com',
    'tutanota.de',
    'tuta.io',
    'tuta.com',
    'keemail.me',
    'gmx.com',
    'gmx.net',
    'gmx.de',
    'gmx.at',
  ],
  ...[
    'gmx.ch',
    'gmx.us',
    'mail.com',
    'email.com',
    'usa.com',
    'web.de',
    'freenet.de',
    't-online.de',
    'arcor.de',
    'posteo.de',
  ],
  ...[
    'mailbox.org',
    'zoho.com',
    'zohomail.com',
    'yandex.com',
    'yandex.ru',
    'ya.ru',
    'mail.ru',
    'bk.ru',
    'inbox.ru',
    'list.ru',
  ],
  ...[
    'rambler.ru',
    'fastmail.com',
    'fastmail.fm',
    'hushmail.com',
    'hey.com',
    'duck.com',
    'qq.com',
    'foxmail.com',
    '163.com',
  ],
  ...[
    '126.com',
    'yeah.net',
    'sina.com',
    'sohu.com',
    'naver.com',
    'hanmail.net',
    'daum.net',
    'nate.com',
    'rediffmail.com',
  ],
  ...[
    'orange.fr',
    'wanadoo.fr',
    'free.fr',
    'laposte.net',
    'sfr.fr',
    'libero.it',
    'virgilio.it',
    'tiscali.it',
    'alice.it',
  ],
  ...[
    'wp.pl',
    'o2.pl',
    'onet.pl',
    'interia.pl',
    'seznam.cz',
    'centrum.cz',
    'abv.bg',
    'ukr.net',
    'terra.com.br',
    'uol.com.br',
  ],
  ...[
    'bol.com.br',
    'comcast.net',
    'verizon.net',
    'att.net',
    'sbcglobal.net',
    'bellsouth.net',
    'cox.net',
    'charter.net',
  ],
  ...[
    'btinternet.com',
    'sky.com',
    'talktalk.net',
    'virginmedia.com',
    'bigpond.com',
    'optusnet.com.au',
    'shaw.ca',
    'rogers.com',
  ],
  ...['mailinator.com', 'guerrillamail.com', 'sharklasers.com', '10minutemail.com', 'temp-mail.org', 'tempmail.com'],
  ...['yopmail.com', 'trashmail.com', 'dispostable.com', 'getnada.com', 'maildrop.cc', 'mintemail.com', 'moakt.com'],
])

/** Providers that have the same name under many endings, such as yahoo.co.uk. */
const FREE_MAIL_NAMES = /^(yahoo|hotmail|outlook|live|gmx|yandex|ymail)\.(com?\.)?[a-z]{2,3}$/

const LOCAL = /^[a-z0-9!#$%&'*+/=?^_`{|}~-]+(\.[a-z0-9!#$%&'*+/=?^_`{|}~-]+)*$/
const DOMAIN = /^([a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z][a-z0-9-]{0,61}[a-z0-9]$/
const MAX_LOCAL_CHARS = 64
const MAX_CHARS = 254

/** Why this is no address of a company, or null. */
export function businessEmailFault(address: string): string | null {
  const text = address.toLowerCase()
  const [local = '', domain = '', ...others] = text.split('@')
  const isAddress = others.length === 0 && LOCAL.test(local) && DOMAIN.test(domain)
  if (!isAddress || local.length > MAX_LOCAL_CHARS || text.length > MAX_CHARS) return 'must be an e-mail address'
  const isFree = FREE_MAIL.has(domain) || FREE_MAIL_NAMES.test(domain)
  return isFree ? 'must be a business e-mail address, not one of a public mail provider' : null
}
