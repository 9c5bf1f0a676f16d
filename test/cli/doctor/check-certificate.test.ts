import { getCACertificates, setDefaultCACertificates } from 'node:tls'
import { expect, test } from 'vitest'
import { checkCertificate, judgeCertificate } from '../../../src/cli/doctor/check-certificate.ts'
import { startScriptedService } from '../../helpers/scripted-service.ts'
import { createCertificate, startTlsServer } from '../../helpers/tls-server.ts'

const DAY = 86_400_000
const NOW = Date.now()
const options = { proxy: null, nowMs: NOW, timeoutMs: 5000, signal: new AbortController().signal }

/** What is seen of a server with this certificate; `isTrusted` makes it an authority of this process for so long. */
async function check(names: readonly string[], fromDays: number, toDays: number, isTrusted = true) {
  const certificate = createCertificate(names, new Date(NOW + fromDays * DAY), new Date(NOW + toDays * DAY))
  const before = getCACertificates('default')
  if (isTrusted) setDefaultCACertificates([...before, certificate.cert])
  try {
    await using server = await startTlsServer(certificate)
    return await checkCertificate('base TLS', `https://127.0.0.1:${server.port}`, options)
  } finally {
    setDefaultCACertificates(before)
  }
}

test('a certificate that is accepted says by whom it is and until when; near its end it is worth a look', async () => {
  expect(await check(['127.0.0.1'], -1, 90)).toMatchObject({
    result: 'ok',
    seen: expect.stringMatching(/^accepted: issued by livehouse test, valid until \d{4}-\d\d-\d\d \(TLSv1.3\)$/),
  })
  expect(await check(['127.0.0.1'], -1, 10)).toMatchObject({
    result: 'warning',
    mend: expect.stringContaining('has not been renewed'),
  })
})

test.each([
  [
    'an unknown authority',
    ['127.0.0.1'],
    -1,
    90,
    false,
    'is signed by nobody but itself: livehouse test',
    'NODE_EXTRA_CA_CERTS',
  ],
  ['one that has ended', ['127.0.0.1'], -90, -1, true, 'ended on 2', 'clock'],
  ['one that has not begun', ['127.0.0.1'], 1, 90, true, 'begins on 2', 'clock'],
  [
    'one for other names',
    ['a.example', 'b.example'],
    -1,
    90,
    true,
    'is for other names: a.example, b.example',
    'address',
  ],
])('%s is named, with what to do', async (_, names, from, to, isTrusted, seen, mend) => {
  expect(await check(names, from, to, isTrusted)).toMatchObject({
    result: 'failed',
    seen: expect.stringContaining(`the certificate ${seen}`),
    mend: expect.stringContaining(mend),
  })
})

test.each([
  ['SELF_SIGNED_CERT_IN_CHAIN', 'is of an authority that is not known here: Corp', 'NODE_EXTRA_CA_CERTS'],
  ['UNABLE_TO_VERIFY_LEAF_SIGNATURE', 'comes without those between', 'NODE_EXTRA_CA_CERTS'],
  ['SOMETHING_NEW', 'is not accepted (SOMETHING_NEW)', 'SOMETHING_NEW'],
])('%s', (problem, seen, mend) => {
  const certificate = { problem, validFrom: 0, validTo: NOW, issuer: 'Corp', names: 'a', protocol: 'TLSv1.3' }
  expect(judgeCertificate('base TLS', certificate, NOW)).toMatchObject({
    result: 'failed',
    seen: expect.stringContaining(seen),
    mend: expect.stringContaining(mend),
  })
})

test('a port that speaks no TLS, and one that nobody listens on', async () => {
  await using plain = await startScriptedService(() => ({ json: {} }))
  expect(await checkCertificate('base TLS', plain.url.replace('http:', 'https:'), options)).toMatchObject({
    result: 'failed',
    mend: 'no TLS is spoken there: check the port, and whether the address begins with http',
  })
  expect(await checkCertificate('base TLS', 'https://127.0.0.1:1', options)).toMatchObject({
    result: 'failed',
    seen: 'no TLS connection (ECONNREFUSED)',
  })
})

test('plain http and what a proxy does are not looked at', async () => {
  expect(await checkCertificate('base TLS', 'http://127.0.0.1:1', options)).toMatchObject({ result: 'skipped' })
  const proxied = await checkCertificate('base TLS', 'https://127.0.0.1:1', { ...options, proxy: 'http://p' })
  expect(proxied).toMatchObject({ result: 'skipped' })
})
