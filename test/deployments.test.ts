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

/** Has `unread` name each field, of a value and of all in it, until somebody reads it */
function watch(value: unknown, unread: Set<string>, path = ''): void {
  if (typeof value !== 'object' || value === null) return
  for (const [name, field] of Object.entries(value)) {
    const place = `${path}/${name}`
    watch(field, unread, place)
    unread.add(place)
    Object.defineProperty(value, name, { get: () => [field, unread.delete(place)][0] })
  }
}

/** By the schema of its kind. @throws with what does not fit it */
function validate(manifest: unknown): void {
  const parsed = manifestSchema.parse(manifest)
  const Model = models.get(parsed.kind)
  assert(Model !== undefined, `no schema of a ${parsed.kind} is known here`)
  // The constructor takes what is right alone; that is what is to be seen.
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion
  const model = new Model(parsed as never)
  expect(model).toMatchObject({ apiVersion: parsed.apiVersion })
  const unread = new Set<string>()
  watch(model, unread)
  model.validate()
  // The schemas refuse no field that they do not know; they do not read it either.
  assert(unread.size === 0, `no fields of a ${parsed.kind}: ${[...unread].join(', ')}`)
}

test.each(bases)('what kustomize applies of %s is all there, and valid', (base) => {
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

test('an image of others is named by its digest', () => {
  const files = ['compose.yaml', 'Dockerfile'].map((file) => readFileSync(join(examples, '../..', file), 'utf8'))
  const images = [...files.join('').matchAll(/^(?:FROM| +image:) (?!scratch |base )(\S+)/gm)].map(([, image]) => image)
  expect(images.filter((image) => !/^\w+:[\w.-]+@sha256:[0-9a-f]{64}$/.test(image ?? ''))).toEqual(['livehouse'])
})

const isSystemdThere = spawnSync('systemd-analyze', ['--version']).status === 0
if (!isSystemdThere) process.stdout.write('no systemd-analyze: the units of docs/examples are not verified\n')

test.skipIf(!isSystemdThere)('systemd finds nothing wrong with a unit', () => {
  const place = createTemporaryFolder('units')
  const files = readdirSync(examples).filter((file) => /\.(service|timer)$/.test(file))
  for (const file of files) {
    const unit = readFileSync(join(examples, file), 'utf8')
    // It asks whether the program is there.
    writeFileSync(join(place, file), unit.replace('ExecStart=livehouse', `ExecStart=${process.execPath}`))
  }
  const args = ['verify', '--man=no', ...files.map((file) => join(place, file))]
  const { status, stderr } = spawnSync('systemd-analyze', args, { encoding: 'utf8' })
  // It may have something to say of other units of this machine.
  expect([files.length, status, stderr.split('\n').filter((line) => /livehouse/.test(line))]).toEqual([3, 0, []])
})
