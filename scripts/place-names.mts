import { resolve } from 'node:path'

/**
 * Prints the provinces and cities for a migration like 0063, from the unpacked package @vant/area-data (MIT):
 * `npm pack @vant/area-data && tar xzf vant-area-data-*.tgz && node scripts/place-names.mts package`.
 */
interface AreaList {
  readonly province_list: Readonly<Record<string, string>>
  readonly city_list: Readonly<Record<string, string>>
  readonly county_list: Readonly<Record<string, string>>
}

const [folder = 'package'] = process.argv.slice(2)
const { areaList }: { areaList: AreaList } = await import(resolve(folder, 'dist/index.js'))
const { province_list: provinces, city_list: cities, county_list: counties } = areaList

const LONGEST_LINE = 100

/** Cities, and counties that belong to no city (the third and fourth digits of their codes are 90). */
const places = [...Object.entries(cities), ...Object.entries(counties).filter(([code]) => code.slice(2, 4) === '90')]

for (const [code, name] of Object.entries(provinces)) {
  const short = name.replace(/(?:维吾尔自治区|壮族自治区|回族自治区|自治区|特别行政区|省|市)$/, '')
  const within = places.filter(([place]) => place.slice(0, 2) === code.slice(0, 2)).map(([, place]) => place)
  // A province that is a city itself has no cities, and 省直辖县 and the like are not places.
  const isCity = /市$|特别行政区$/.test(name)
  const named = isCity ? [] : within.filter((place) => !/直辖|^县$/.test(place))
  const lines = ['']
  for (const word of [`${short}:`, ...named]) {
    if (`${lines.at(-1)} ${word}`.length > LONGEST_LINE) lines.push('')
    lines[lines.length - 1] += ` ${word}`
  }
  process.stdout.write(`${lines.join('\n')}\n`)
}
