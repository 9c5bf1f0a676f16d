import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { Deployment } from 'kubernetes-models/apps/v1'
import { CronJob } from 'kubernetes-models/batch/v1'
import { NetworkPolicy } from 'kubernetes-models/networking.k8s.io/v1'
import { PodDisruptionBudget } from 'kubernetes-models/policy/v1'
import { expect, test } from 'vitest'
import { parse } from 'yaml'
import { z } from 'zod'
import { createTemporaryFolder } from './helpers/temporary-folder.ts'

const models = new Map(
  [Deployment, CronJob, NetworkPolicy, PodDisruptionBudget].map((Model) => [Model.name, Model] as const),
)
const examples = join(import.meta.dirname, '..', 'docs', 'examples')
const folder = join(examples, 'kubernetes')
const bases = readdirSync(folder)
const manifestSchema = z.looseObject({
  apiVersion: z.string(),
  kind: z.string(),
  metadata: z.looseObject({ name: z.string() }),
})
const kustomizationSchema = z.object({
  resources: z.array(z.string()),
  configMapGenerator: z.array(z.object({ name: z.string(), envs: z.array(z.string()) })),
  secretGenerator: z.array(z.object({ name: z.string(), envs: z.array(z.string()) })),
})

function read(base: string, file: string): unknown {
  return parse(readFileSync(join(folder, base, file), 'utf8'))
}

/** Adds each field of a value, nested ones too, to `unread` until it is read. */
function watch(value: unknown, unread: Set<string>, path = ''): void {
  if (typeof value !== 'object' || value === null) return
  for (const [name, field] of Object.entries(value)) {
    const place = `${path}/${name}`
    watch(field, unread, place)
    unread.add(place)
    Object.defineProperty(value, name, { get: () => [field, unread.delete(place)][0] })
  }
}

/** Checks a manifest against the schema of its kind. @throws with what does not fit */
function validate(manifest: unknown): void {
  const parsed = manifestSchema.parse(manifest)
  const Model = models.get(parsed.kind)
  assert(Model !== undefined, `there is no schema for a ${parsed.kind} here`)
  // The type of the constructor demands a valid manifest, which is what is checked here.
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion
  const model = new Model(parsed as never)
  expect(model).toMatchObject({ apiVersion: parsed.apiVersion })
  const unread = new Set<string>()
  watch(model, unread)
  model.validate()
  // The schemas do not refuse unknown fields, but do not read them either.
  assert(unread.size === 0, `a ${parsed.kind} has no such fields: ${[...unread].join(', ')}`)
}

test.each(bases)('the manifests that kustomize applies for %s exist and are valid', (base) => {
  const { resources, configMapGenerator, secretGenerator } = kustomizationSchema.parse(read(base, 'kustomization.yaml'))
  const manifests = readdirSync(join(folder, base)).filter(
    (file) => file.endsWith('.yaml') && file !== 'kustomization.yaml',
  )
  expect(resources.toSorted()).toEqual(manifests)
  for (const file of resources) validate(read(base, file))
  for (const { envs } of [...configMapGenerator, ...secretGenerator])
    for (const file of envs) expect(existsSync(join(folder, base, file))).toBe(true)
})

test.each(['replicas', 'envFrom'])('a misspelt %s of a deployment is refused', (name) => {
  const text = readFileSync(join(folder, 'serve', 'deployment.yaml'), 'utf8').replace(`${name}:`, `${name}s:`)
  expect(() => validate(parse(text))).toThrow(`/${name}s`)
})

test('every third-party image is pinned by its digest', () => {
  const files = ['compose.yaml', 'Dockerfile'].map((file) => readFileSync(join(examples, '../..', file), 'utf8'))
  const images = [...files.join('').matchAll(/^(?:FROM| +image:) (?!scratch |base )(\S+)/gm)].map(([, image]) => image)
  expect(images.filter((image) => !/^\w+:[\w.-]+@sha256:[0-9a-f]{64}$/.test(image ?? ''))).toEqual(['livehouse'])
})

const hasSystemd = spawnSync('systemd-analyze', ['--version']).status === 0
if (!hasSystemd) process.stdout.write('no systemd-analyze: the units of docs/examples are not verified\n')

test.skipIf(!hasSystemd)('systemd-analyze finds no fault in the units', () => {
  const place = createTemporaryFolder('units')
  const files = readdirSync(examples).filter((file) => /\.(service|timer)$/.test(file))
  for (const file of files) {
    const unit = readFileSync(join(examples, file), 'utf8')
    // It checks that the program exists.
    writeFileSync(join(place, file), unit.replace('ExecStart=livehouse', `ExecStart=${process.execPath}`))
  }
  const args = ['verify', '--man=no', ...files.map((file) => join(place, file))]
  const { status, stderr } = spawnSync('systemd-analyze', args, { encoding: 'utf8' })
  // It may also report other units of this machine.
  expect([files.length, status, stderr.split('\n').filter((line) => /livehouse/.test(line))]).toEqual([3, 0, []])
})
