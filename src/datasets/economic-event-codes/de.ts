// Economic event codes: Germany. Its rates are the European Central Bank's: see EU.

/** Code to what it means (spec 2.9). */
export const deEventCodes: Readonly<Record<string, string>> = {
  GDP_GROWTH_RATE_QOQ: 'Real gross domestic product: growth over the quarter before.',
  GDP_GROWTH_RATE_YOY: 'Real gross domestic product: growth over the same quarter of the year before.',
  INFLATION_RATE_HEADLINE_YOY: 'Consumer prices: change over a year.',
  INFLATION_RATE_HEADLINE_MOM: 'Consumer prices: change over the month before.',
  INFLATION_RATE_FLASH_YOY: 'Consumer prices, first estimate: change over a year.',
  INFLATION_RATE_HARMONISED_YOY:
    'Consumer prices as the European Union counts them (HICP): change over a year.',
  INFLATION_PPI_HEADLINE_YOY: 'Producer prices of industry: change over a year.',
  INFLATION_PPI_HEADLINE_MOM: 'Producer prices of industry: change over the month before.',
  INFLATION_IMPORT_PRICES_YOY: 'Prices of imported goods: change over a year.',
  INFLATION_WHOLESALE_PRICES_YOY: 'Prices of wholesalers: change over a year.',
  EMPLOYMENT_UNEMPLOYMENT_RATE: 'Share of the labour force that is registered as unemployed.',
  EMPLOYMENT_UNEMPLOYMENT_CHANGE:
    'Change in the number of registered unemployed, over the month, seasonally adjusted.',
  CONSUMPTION_RETAIL_SALES_HEADLINE_MOM: 'Retail sales after inflation: change over the month before.',
  CONSUMPTION_RETAIL_SALES_HEADLINE_YOY: 'Retail sales after inflation: change over a year.',
  CONSUMPTION_CONSUMER_CONFIDENCE_GFK:
    'The survey of consumer climate by GfK and NIM, for the month ahead; above 0 more are hopeful than not.',
  BUSINESS_CLIMATE_IFO: "The ifo Institute's survey of companies on how business is and will be.",
  BUSINESS_CURRENT_CONDITIONS_IFO: "How business is, by the ifo Institute's survey of companies.",
  BUSINESS_EXPECTATIONS_IFO:
    "How business will be in six months, by the ifo Institute's survey of companies.",
  BUSINESS_ECONOMIC_SENTIMENT_ZEW:
    "ZEW's survey of what financial experts expect of Germany in six months; above 0 more are hopeful than not.",
  BUSINESS_CURRENT_CONDITIONS_ZEW:
    "ZEW's survey of how financial experts see Germany's economy now; above 0 more call it good than bad.",
  BUSINESS_PMI_MANUFACTURING_HCOB:
    "HCOB's survey of purchasing managers in manufacturing; above 50 they report growth.",
  BUSINESS_PMI_SERVICES_HCOB:
    "HCOB's survey of purchasing managers in services; above 50 they report growth.",
  BUSINESS_PMI_COMPOSITE_HCOB:
    "HCOB's survey of purchasing managers in manufacturing and services together; above 50 they report growth.",
  BUSINESS_FACTORY_ORDERS_MOM: 'New orders of factories: change over the month before.',
  BUSINESS_FACTORY_ORDERS_YOY: 'New orders of factories: change over a year.',
  BUSINESS_INDUSTRIAL_PRODUCTION_MOM: 'Output of industry and construction: change over the month before.',
  BUSINESS_INDUSTRIAL_PRODUCTION_YOY: 'Output of industry and construction: change over a year.',
  HOUSING_PRICE_INDEX_YOY: 'Prices of homes: change over a year.',
  HOUSING_BUILDING_PERMITS_YOY: 'Homes whose building was permitted: change over a year.',
  TRADE_BALANCE: 'Exports of goods less imports in the month, seasonally adjusted.',
  TRADE_EXPORTS_MOM: 'Exports of goods: change over the month before.',
  TRADE_IMPORTS_MOM: 'Imports of goods: change over the month before.',
  TRADE_CURRENT_ACCOUNT: 'Trade, income and transfers with the rest of the world in the month.',
  BONDS_AUCTION_BUND_2Y: 'Auction of 2-year federal notes (Schatz): the average accepted yield.',
  BONDS_AUCTION_BUND_10Y: 'Auction of 10-year federal bonds (Bund): the average accepted yield.',
  BONDS_AUCTION_BUND_30Y: 'Auction of 30-year federal bonds (Bund): the average accepted yield.',
  POLITICAL_EVENT_FEDERAL_ELECTION: 'Election of the Bundestag.',
  POLITICAL_EVENT_STATE_ELECTION: 'Election of a state parliament.',
  POLITICAL_EVENT_FEDERAL_BUDGET: "The federal government's or the Bundestag's decision on the budget.",
  BUNDESBANK_POLICY_MONTHLY_REPORT: "The Bundesbank's monthly report on the economy.",
  BUNDESBANK_SPEECH_PRESIDENT:
    "Speech of the President of the Bundesbank, a member of the European Central Bank's Governing Council.",
};
